// The addresses of a host, for the server and the client of src/serve. Includes Boost.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace carbon {

/// The addresses of a host, which may be written as in a URL. localhost is this machine, also where no file
/// and no service says so; other names are asked of the system. `error` says why there are none.
std::vector<boost::asio::ip::tcp::endpoint> addresses_of(boost::asio::io_context& context,
                                                         const std::string& host, uint16_t port,
                                                         boost::system::error_code& error);

}  // namespace carbon

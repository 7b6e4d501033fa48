#include "src/serve/http_addresses.hpp"

#include "src/serve/http_text.hpp"

namespace carbon {

using boost::asio::ip::tcp;

std::vector<tcp::endpoint> addresses_of(boost::asio::io_context& context, const std::string& host,
                                        uint16_t port, boost::system::error_code& error) {
  const std::string name = bare_host(host);
  if (name == "localhost")
    return {{boost::asio::ip::address_v4::loopback(), port}, {boost::asio::ip::address_v6::loopback(), port}};
  std::vector<tcp::endpoint> found;
  for (const auto& entry :
       tcp::resolver(context).resolve(name, std::to_string(port), tcp::resolver::numeric_service, error))
    found.push_back(entry.endpoint());
  return found;
}

}  // namespace carbon

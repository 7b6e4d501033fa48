#include "src/report/html.hpp"

#include <algorithm>
#include <string_view>

#include "src/report/drawing/svg.hpp"
#include "version.h"

namespace carbon {
namespace {

using namespace std::string_view_literals;

// The style, the script of tables, and the viewer of logos and maps, whose files the page of carbon serve
// uses, too.
struct Asset {
  std::string_view name, text;
};
constexpr Asset kAssets[] = {
#include "report_page.h"
};

constexpr std::string_view asset(std::string_view name) {
  return std::find_if(std::begin(kAssets), std::end(kAssets), [&](const Asset& a) { return a.name == name; })
      ->text;
}

class HtmlWriter {
 public:
  std::string page(const Report& report, const std::string& command) {
    const bool views = has_viewer(report);
    // The policy forbids the browser to load anything from anywhere, whatever a file's texts may contain.
    out_ +=
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
    text(report.title);
    out_ += "</title>\n<style>\n";
    out_ += asset("report.css");
    if (views) out_ += asset("viewer.css");
    out_ += "</style>\n</head>\n<body>\n<header>\n<h1>";
    text(report.title);
    out_ += "</h1>\n";
    models(report);
    contents(report);
    out_ += "</header>\n<main>\n";
    for (const Section& one : report.sections) section(one);
    out_ += "</main>\n";
    footer(report, command);
    out_ += "<script type=\"module\">\n";
    out_ += asset("report.js");
    if (views) {
      out_ += asset("figures.js");
      out_ += asset("viewer.js");
    }
    out_ += "</script>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  static bool has_viewer(const Report& report) {
    for (const Section& one : report.sections)
      for (const auto& part : one.parts)
        if (const auto* figure = std::get_if<Figure>(&part); figure && !figure->viewer.empty()) return true;
    return false;
  }

  void text(std::string_view words) { out_ += escape_xml(words); }
  void element(std::string_view name, std::string_view words) {
    out_ += "<" + std::string(name) + ">";
    text(words);
    out_ += "</" + std::string(name) + ">";
  }

  void models(const Report& report) {
    for (const Section& one : report.sections)
      for (const std::string& sentence : one.models) {
        element("p", report.sections.size() > 1 ? one.title + ". " + sentence : sentence);
        out_ += "\n";
      }
  }

  void contents(const Report& report) {
    if (report.sections.size() < 2) return;
    out_ += "<nav aria-label=\"Contents\"><ul>";
    for (const Section& one : report.sections) {
      out_ += "<li><a href=\"#" + one.name + "\">";
      text(one.title);
      out_ += "</a></li>";
    }
    out_ += "</ul></nav>\n";
  }

  void section(const Section& one) {
    out_ += "<section id=\"" + one.name + "\">\n";
    element("h2", one.title);
    out_ += "\n";
    for (const std::string& paragraph : one.paragraphs) {
      element("p", paragraph);
      out_ += "\n";
    }
    for (const auto& part : one.parts) {
      if (const auto* drawn = std::get_if<Figure>(&part))
        figure(*drawn);
      else
        table(std::get<Table>(part));
    }
    out_ += "</section>\n";
  }

  void figure(const Figure& one) {
    out_ += "<figure id=\"" + one.name + "\">\n<div class=\"picture\">" + one.svg + "</div>\n";
    if (!one.viewer.empty()) viewer(one);
    out_ += "<figcaption>";
    text(one.caption);
    if (!one.words.empty()) {
      out_ += "<span class=\"unseen\"> ";
      text(one.words);
      out_ += "</span>";
    }
    out_ += "</figcaption>\n";
    if (!one.numbers.rows.empty()) {
      out_ += "<details><summary>The numbers of this figure</summary>\n";
      table(one.numbers);
      out_ += "</details>\n";
    }
    out_ += "</figure>\n";
  }

  // JSON in an element of script ends where "</script" stands, so no < is left in it; in strings, where alone
  // it can occur, \u003c is the same letter.
  void viewer(const Figure& one) {
    out_ += "<div class=\"viewer\" hidden></div>\n<script type=\"application/json\">";
    for (const char c : one.viewer) {
      if (c == '<')
        out_ += "\\u003c";
      else
        out_ += c;
    }
    out_ += "</script>\n";
  }

  void table(const Table& one) {
    out_ += one.search ? "<div class=\"table search\">\n" : "<div class=\"table\">\n";
    out_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"";
    text(one.title.empty() ? "Numbers of the figure" : one.title);
    out_ += "\"><table>\n";
    if (!one.title.empty()) element("caption", one.title);
    out_ += "<thead><tr>";
    for (const TableColumn& column : one.columns) {
      out_ += column.number ? "<th scope=\"col\" class=\"number\"" : "<th scope=\"col\"";
      if (!column.about.empty()) {
        out_ += " title=\"";
        text(column.about);
        out_ += "\"";
      }
      out_ += ">";
      text(column.name);
      out_ += "</th>";
    }
    if (!one.pictures.empty()) out_ += "<th scope=\"col\">Sequence</th>";
    out_ += "</tr></thead>\n<tbody>\n";
    for (size_t r = 0; r < one.rows.size(); ++r) row(one, r);
    out_ += "</tbody>\n</table></div>\n</div>\n";
  }

  void row(const Table& one, size_t r) {
    out_ += "<tr>";
    for (size_t c = 0; c < one.rows[r].size(); ++c) {
      out_ += one.columns[c].number ? "<td class=\"number\">" : "<td>";
      text(one.rows[r][c]);
      out_ += "</td>";
    }
    if (!one.pictures.empty()) out_ += "<td class=\"picture\">" + one.pictures[r] + "</td>";
    out_ += "</tr>\n";
  }

  void footer(const Report& report, const std::string& command) {
    out_ += "<footer>\n<h2>How this was made</h2>\n";
    for (const Section& one : report.sections) {
      if (one.provenance.empty()) continue;
      element("h3", one.title);
      facts(one.provenance);
    }
    if (!command.empty()) {
      element("h3", "This report");
      facts({{"Program", "carbon " CARBON_VERSION}, {"Command", command}});
    }
    out_ += "</footer>\n";
  }

  void facts(const std::vector<std::pair<std::string, std::string>>& pairs) {
    out_ += "\n<dl>\n";
    for (const auto& [name, value] : pairs) {
      element("dt", name);
      element("dd", value);
      out_ += "\n";
    }
    out_ += "</dl>\n";
  }

  std::string out_;
};

}  // namespace

std::string html_of(const Report& report, const std::string& command) {
  return HtmlWriter().page(report, command);
}

}  // namespace carbon

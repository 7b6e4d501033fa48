// Writes a report as one HTML file.
#include "src/report/run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/base/words.hpp"
#include "src/report/drawing/plot.hpp"
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
    const bool loci = any<Table>(report, [](const Table& one) { return !one.addresses.empty(); });
    const bool views = loci || any<Figure>(report, [](const Figure& one) { return !one.viewer.empty(); });
    // The policy forbids the browser to load anything from anywhere, whatever a file's texts may contain.
    out_ +=
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    line("title", report.title);
    out_ += "<style>\n";
    out_ += asset("report.css");
    if (views) out_ += asset("viewer.css");
    out_ += "</style>\n</head>\n<body>\n<header>\n";
    line("h1", report.title);
    models(report);
    out_ += "</header>\n";
    contents(report);
    out_ += "<main>\n";
    for (const Section& one : report.sections) section(one);
    out_ += "</main>\n";
    footer(report, command);
    out_ += "<script type=\"module\">\n";
    out_ += asset("report.js");
    if (any<Figure>(report, [](const Figure& one) { return one.axis.has_value(); })) out_ += asset("zoom.js");
    if (views) {
      out_ += asset("figures.js");
      out_ += asset("viewer.js");
    }
    if (loci) out_ += asset("locus.js");
    out_ += "</script>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  // Whether the report has a figure, or a table, of which this is true.
  template <class Part, class Is>
  static bool any(const Report& report, Is is) {
    for (const Section& one : report.sections)
      for (const auto& part : one.parts)
        if (const auto* found = std::get_if<Part>(&part); found && is(*found)) return true;
    return false;
  }

  void element(const std::string& name, std::string_view words) {
    out_ += "<" + name + ">" + escape_xml(words) + "</" + name + ">";
  }
  // An element on a line of its own.
  void line(const std::string& name, std::string_view words) {
    element(name, words);
    out_ += "\n";
  }

  void models(const Report& report) {
    for (const Section& one : report.sections)
      for (const std::string& sentence : one.models)
        line("p", report.sections.size() > 1 ? one.title + ". " + sentence : sentence);
  }

  void link(const std::string& id, std::string_view words) {
    out_ += "<li><a href=\"#" + id + "\">" + escape_xml(words) + "</a>";
  }

  // Beside the sections where there is room, above them elsewhere; the style decides.
  void contents(const Report& report) {
    size_t parts = 0;
    for (const Section& one : report.sections) parts += one.parts.size();
    if (report.sections.size() < 2 && parts < 2) return;
    out_ += "<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n";
    for (const Section& one : report.sections) {
      link(one.name, one.title);
      if (!one.parts.empty()) out_ += "\n<ul>\n";
      for (size_t i = 0; i < one.parts.size(); ++i) {
        if (const auto* figure = std::get_if<Figure>(&one.parts[i]))
          link(figure->name, figure->title);
        else
          link(table_id(one, i), contents_name(std::get<Table>(one.parts[i])));
        out_ += "</li>\n";
      }
      out_ += one.parts.empty() ? "</li>\n" : "</ul></li>\n";
    }
    out_ += "</ul></details></nav>\n";
  }

  // A hyphen keeps it apart from the names of figures, which have none.
  static std::string table_id(const Section& section, size_t part) {
    return section.name + "-table-" + std::to_string(part + 1);
  }
  static std::string_view contents_name(const Table& table) {
    return table.brief.empty() ? table.title : table.brief;
  }

  void section(const Section& one) {
    out_ += "<section id=\"" + one.name + "\">\n";
    line("h2", one.title);
    for (const std::string& paragraph : one.paragraphs) line("p", paragraph);
    for (size_t i = 0; i < one.parts.size(); ++i) {
      if (const auto* drawn = std::get_if<Figure>(&one.parts[i]))
        figure(*drawn);
      else
        table(std::get<Table>(one.parts[i]), table_id(one, i));
    }
    out_ += "</section>\n";
  }

  void figure(const Figure& one) {
    out_ += "<figure id=\"" + one.name + "\">\n";
    picture(one);
    if (!one.viewer.empty()) viewer(one);
    out_ += "<figcaption>" + escape_xml(one.caption);
    if (!one.words.empty()) out_ += "<span class=\"unseen\"> " + escape_xml(one.words) + "</span>";
    out_ += "</figcaption>\n";
    if (one.other) {
      out_ += "<details>";
      line("summary", one.other->title);
      picture(*one.other, false);
      out_ += "</details>\n";
    }
    if (!one.numbers.rows.empty()) {
      out_ += "<details><summary>The numbers of this figure</summary>\n";
      table(one.numbers, one.name + "-numbers");
      out_ += "</details>\n";
    }
    out_ += "</figure>\n";
  }

  // Of a figure, or another picture of it with the same points in the same order.
  void picture(const Picture& one, bool with_words = true) {
    out_ += "<div class=\"picture\"";
    if (!one.points.empty()) points(one.points, with_words);
    if (one.axis) axis(*one.axis);
    out_ += ">" + one.svg + "</div>\n";
  }

  void attribute(const std::string& name, std::string_view value) {
    out_ += " " + name + "=\"" + escape_xml(value) + "\"";
  }

  // [[x, y, words], ...] for the script; of another picture of the same points without the words.
  void points(const std::vector<FigurePoint>& points, bool with_words) {
    std::string json = "[";
    for (const FigurePoint& point : points)
      json += (json.size() > 1 ? ",[" : "[") + px(point.x) + "," + px(point.y) +
              (with_words ? "," + json_text(nlohmann::ordered_json(point.words)) : "") + "]";
    attribute("data-points", json + "]");
  }

  // {"left", "right", "bottom", "least", "most", "ticks"} for the script.
  void axis(const PositionAxis& axis) {
    attribute("data-axis", json_text({{"left", axis.left},
                                      {"right", axis.right},
                                      {"bottom", axis.bottom},
                                      {"least", axis.least},
                                      {"most", axis.most},
                                      {"ticks", axis.ticks}}));
  }

  // JSON in an element of script ends where "</script" stands, so no < is left in it; in strings, where alone
  // it can occur, \u003c is the same letter.
  void json(std::string_view text) { out_ += joined(split(text, '<'), "\\u003c"); }

  void viewer(const Figure& one) {
    out_ += "<div class=\"viewer\" hidden></div>\n<script type=\"application/json\">";
    json(one.viewer);
    out_ += "</script>\n";
  }

  // Of the rows of a table, in the order in which they stand.
  void loci(const Table& one) {
    if (one.loci.empty()) return;
    out_ += "<script type=\"application/json\" class=\"loci\">[";
    for (const std::string& locus : one.loci) {
      if (&locus != one.loci.data()) out_ += ",\n";
      json(locus.empty() ? "null" : locus);
    }
    out_ += "]</script>\n";
  }

  // The columns of the numbers, the share and the word for positives, for the script.
  void predictive(const PredictiveValues& of) {
    attribute("data-predictive", json_text(nlohmann::ordered_json{{"sensitivity", 1},
                                                                  {"specificity", 2},
                                                                  {"value", 3},
                                                                  {"share", of.share},
                                                                  {"positive", of.positive}}));
  }

  // The id is also the name of the file in which the script saves the rows.
  void table(const Table& one, const std::string& id) {
    out_ += "<div id=\"" + id + (one.search ? "\" class=\"table search\"" : "\" class=\"table\"");
    if (one.predictive) predictive(*one.predictive);
    out_ += ">\n<div class=\"scroll\" tabindex=\"0\" role=\"group\"";
    attribute("aria-label", one.title.empty() ? "Numbers of the figure" : one.title);
    out_ += "><table>\n";
    if (!one.title.empty()) element("caption", one.title);
    out_ += "<thead><tr>";
    for (const TableColumn& column : one.columns) {
      out_ += column.number ? "<th scope=\"col\" class=\"number\"" : "<th scope=\"col\"";
      if (one.sorted == &column - one.columns.data())
        out_ += one.descending ? " aria-sort=\"descending\"" : " aria-sort=\"ascending\"";
      if (!column.about.empty()) attribute("title", column.about);
      out_ += ">" + escape_xml(column.name) + "</th>";
    }
    if (!one.links.empty()) out_ += "<th scope=\"col\">Links</th>";
    if (!one.pictures.empty()) out_ += "<th scope=\"col\">Sequence</th>";
    out_ += "</tr></thead>\n<tbody>\n";
    const std::vector<size_t> digits = digits_of(one);
    for (size_t r = 0; r < one.rows.size(); ++r) row(one, r, digits);
    out_ += "</tbody>\n</table></div>\n";
    loci(one);
    if (one.predictive)
      element("p", "PPV is given for the share of " + one.predictive->positive + " alleles in the data, " +
                       value_text(100 * one.predictive->share) + " %.");
    out_ += "</div>\n";
  }

  // The digits behind the point; none for a number with an exponent, which cannot stand below the others.
  static size_t digits_behind_point(std::string_view number) {
    const size_t point = number.find('.');
    if (point == number.npos || number == "." || number.find('e') != number.npos) return 0;
    return number.size() - point - 1;
  }
  static std::vector<size_t> digits_of(const Table& one) {
    std::vector<size_t> out(one.columns.size());
    for (const std::vector<std::string>& row : one.rows)
      for (size_t c = 0; c < row.size(); ++c)
        if (one.columns[c].number) out[c] = std::max(out[c], digits_behind_point(row[c]));
    return out;
  }

  // The points of a column stand below one another: a number with fewer digits than others is moved left.
  void row(const Table& one, size_t r, const std::vector<size_t>& digits) {
    // An allele can be in several files, or twice in one, and an address leads to one row.
    const std::string address = one.addresses.empty() ? "" : free_name(one.addresses[r], addresses_, "-");
    out_ += address.empty() ? "<tr>" : "<tr id=\"" + escape_xml(address) + "\">";
    for (size_t c = 0; c < one.rows[r].size(); ++c) {
      const size_t behind = one.columns[c].number ? digits_behind_point(one.rows[r][c]) : 0;
      out_ += one.columns[c].number ? "<td class=\"number\"" : "<td";
      if (one.columns[c].number && behind < digits[c])
        out_ += " style=\"--more:" + std::to_string(digits[c] - behind) + (behind == 0 ? ".5" : "") + "\"";
      out_ += ">";
      const bool linked = !address.empty() && c == one.addressed;
      if (linked) out_ += "<a href=\"#" + escape_xml(address) + "\">";
      out_ += escape_xml(one.rows[r][c]) + (linked ? "</a></td>" : "</td>");
    }
    if (!one.links.empty()) links(one.links[r]);
    if (!one.pictures.empty()) out_ += "<td class=\"picture\">" + one.pictures[r] + "</td>";
    out_ += "</tr>\n";
  }

  void links(const std::vector<std::pair<std::string, std::string>>& links) {
    out_ += "<td class=\"links\">";
    for (const auto& [name, address] : links) {
      out_ += "<a";
      attribute("href", address);
      out_ += " target=\"_blank\" rel=\"noopener noreferrer\">" + escape_xml(name) + "</a> ";
    }
    out_ += "</td>";
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
      line("dd", value);
    }
    out_ += "</dl>\n";
  }

  std::string out_;
  TakenNames addresses_;  // of rows, each once
};

}  // namespace

std::string html_of(const Report& report, const std::string& command) {
  return HtmlWriter().page(report, command);
}

}  // namespace carbon

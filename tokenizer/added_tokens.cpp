// The table of added tokens; see added_tokens.hpp.
#include "tokenizer/added_tokens.hpp"

#include <algorithm>
#include <utility>

namespace carbon {

namespace {

/// In id order from kReleasedBpeSize.
constexpr std::string_view kReleasedTexts[] = {
    "<|endoftext|>",  "<|im_start|>",   "<|im_end|>",      "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>",  "<|box_end|>",    "<|quad_start|>",  "<|quad_end|>",         "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",   "<|video_pad|>",        "<tool_call>",
    "</tool_call>",   "<|fim_prefix|>", "<|fim_middle|>",  "<|fim_suffix|>",       "<|fim_pad|>",
    "<|repo_name|>",  "<|file_sep|>",   "<tool_response>", "</tool_response>",     "<think>",
    "</think>"};
constexpr uint32_t kLastSpecial = 151656;

}  // namespace

std::vector<AddedToken> released_added_tokens() {
  std::vector<AddedToken> tokens;
  uint32_t id = kReleasedBpeSize;
  for (const std::string_view text : kReleasedTexts) {
    tokens.push_back({std::string(text), id, id <= kLastSpecial});
    ++id;
  }
  return tokens;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) add(token);
}

bool AddedTokens::add(AddedToken token) {
  if (token.text.empty() || by_text_.contains(token.text)) return false;
  const uint32_t id = token.id;
  const auto [place, inserted] = by_id_.emplace(id, std::move(token));
  if (!inserted) return false;
  const std::string& text = place->second.text;
  by_text_.emplace(text, &place->second);
  begins_[static_cast<unsigned char>(text[0])] = true;
  return true;
}

const AddedToken* AddedTokens::find(uint32_t id) const {
  const auto place = by_id_.find(id);
  return place == by_id_.end() ? nullptr : &place->second;
}

// In alphabetical order a token that `text` begins with is followed only by longer tokens up to the place of
// `text`. So if the last token before that place is not a beginning of `text`, the next one to look at is a
// beginning of what the two have in common.
const AddedToken* AddedTokens::longest_at_start(std::string_view text) const {
  while (!text.empty()) {
    auto place = by_text_.upper_bound(text);
    if (place == by_text_.begin()) return nullptr;
    const auto& [token, found] = *--place;
    if (text.starts_with(token)) return found;
    const auto differ = std::mismatch(text.begin(), text.end(), token.begin(), token.end()).first;
    text = text.substr(0, static_cast<size_t>(differ - text.begin()));
  }
  return nullptr;
}

AddedTokens::Match AddedTokens::next(std::string_view text, size_t from) const {
  for (size_t position = from; position < text.size(); ++position)
    if (begins_[static_cast<unsigned char>(text[position])])
      if (const AddedToken* token = longest_at_start(text.substr(position))) return {position, token};
  return {};
}

}  // namespace carbon

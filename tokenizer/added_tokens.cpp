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
  if (token.text.empty()) return false;
  auto& bucket = by_first_byte_[static_cast<unsigned char>(token.text[0])];
  if (std::any_of(bucket.begin(), bucket.end(), [&](const AddedToken* t) { return t->text == token.text; }))
    return false;
  const uint32_t id = token.id;
  const auto [place, inserted] = by_id_.emplace(id, std::move(token));
  if (!inserted) return false;
  const AddedToken* added = &place->second;
  bucket.insert(std::find_if(bucket.begin(), bucket.end(),
                             [&](const AddedToken* t) { return t->text.size() < added->text.size(); }),
                added);
  return true;
}

const AddedToken* AddedTokens::find(uint32_t id) const {
  const auto place = by_id_.find(id);
  return place == by_id_.end() ? nullptr : &place->second;
}

AddedTokens::Match AddedTokens::next(std::string_view text, size_t from) const {
  for (size_t position = from; position < text.size(); ++position)
    for (const AddedToken* token : by_first_byte_[static_cast<unsigned char>(text[position])])
      if (text.substr(position, token->text.size()) == token->text) return {position, token};
  return {};
}

}  // namespace carbon

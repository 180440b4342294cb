// A text of a few hundred letters that models of characters learn: the house that Jack built.
#pragma once

#include <string>
#include <vector>

/// The nursery rhyme, verse by verse, each with the ones before it.
inline std::string rhyme() {
  const std::vector<std::string> parts = {"the malt\nthat lay in ",
                                          "the rat,\nthat ate ",
                                          "the cat,\nthat killed ",
                                          "the dog,\nthat worried ",
                                          "the cow with the crumpled horn,\nthat tossed ",
                                          "the maiden all forlorn,\nthat milked "};
  std::string tail = "the house that Jack built.\n\n", text = "This is " + tail;
  for (const std::string& part : parts) text += "This is " + (tail = part + tail);
  return text;
}

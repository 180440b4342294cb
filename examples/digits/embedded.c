// The same in C: embedded_c < digits.txt
#include <stdio.h>

#include "digits.h"

int main(void) {
  digits_pictures_array dots; /* float[1][8][8] */
  digits_probability_array probability;
  int32_t digit;
  const digits_inputs in = {.pictures = &dots[0][0][0]};
  const digits_outputs out = {.digit = &digit, .probability = probability[0]};
  char row[16];
  for (int y = 0; scanf("%15s", row) == 1;) {
    for (int x = 0; x < 8; ++x) dots[0][y][x] = row[x] == '#';
    if (++y < 8) continue;
    const char* error = digits_run(&in, &out);
    if (error) {
      fprintf(stderr, "%s\n", error);
      return 1;
    }
    printf("%d %.2f %%\n", (int)digit, 100 * probability[0][digit]);
    y = 0;
  }
  return 0;
}

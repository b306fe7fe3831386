/** How many letters must be added, left out, replaced, or swapped with their neighbour; one more than `most` where it is more. */
export function editDistance(from: string, to: string, most = Infinity): number {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    let least = row;
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let here = Math.min(replaced, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        here = Math.min(here, (beforeLast[column - 2] ?? 0) + 1);
      }
      next.push(here);
      least = Math.min(least, here);
    }
    if (least > most) return most + 1;
    [beforeLast, last] = [last, next];
  }
  return last[to.length] ?? 0;
}

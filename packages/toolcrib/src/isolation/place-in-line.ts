/** The place in line of a document, in words. */
export function placeInLine(place: number): string {
  return place === 1 ? 'Its document is the next to be read' : `Its document is number ${place} in line to be read`;
}

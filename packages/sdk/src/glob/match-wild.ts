/**
 * Wildcard matching over any alphabet, in time proportional to pattern × text.
 *
 * Only the last star ever has to be tried again: whatever an earlier star took, a later one can make up for. That is
 * why this cannot blow up the way a backtracking regular expression does.
 */
export interface WildMatch {
  readonly patternLength: number;
  readonly textLength: number;
  isStar(patternIndex: number): boolean;
  /** Whether one element that is not a star accepts one element of the text. */
  accepts(patternIndex: number, textIndex: number): boolean;
  /** Whether a star may swallow this element. */
  swallows(textIndex: number): boolean;
}

export function matchWild(match: WildMatch): boolean {
  let pattern = 0;
  let text = 0;
  let star = -1;
  let starText = 0;
  while (text < match.textLength) {
    if (pattern < match.patternLength && match.isStar(pattern)) {
      star = pattern;
      starText = text;
      pattern += 1;
    } else if (pattern < match.patternLength && match.accepts(pattern, text)) {
      pattern += 1;
      text += 1;
    } else if (star >= 0 && match.swallows(starText)) {
      pattern = star + 1;
      starText += 1;
      text = starText;
    } else return false;
  }
  while (pattern < match.patternLength && match.isStar(pattern)) pattern += 1;
  return pattern === match.patternLength;
}

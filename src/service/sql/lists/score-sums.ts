export interface ScoreTally {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/** SQL that counts a list's rows by category; only `nps` scores have one. */
export function scoreSums(isScored: boolean): Readonly<Record<keyof ScoreTally, string>> {
  const count = (condition: string): string =>
    isScored ? `count(*) FILTER (WHERE ${condition} AND survey_type = 'nps')` : "0";
  return {
    promoters: count("score >= 9"),
    passives: count("score BETWEEN 7 AND 8"),
    detractors: count("score < 7"),
  };
}

/** A saved filter: every named property has, as text, this value. */
export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export interface TrendRows {
  insert(
    project: number,
    trend: { readonly name: string; readonly where: Readonly<Record<string, string>> },
  ): Promise<number>;
  list(project: number): Promise<readonly Trend[]>;
  exists(project: number, id: number): Promise<boolean>;
  /** Whether there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
}

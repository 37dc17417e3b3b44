/** A saved filter: every named property has, as text, this value. */
export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export interface TrendRows {
  /** The new trend's id. The responses that are there already enter it by and by; see `Store.settle`. */
  insert(
    project: number,
    trend: { readonly name: string; readonly where: Readonly<Record<string, string>> },
  ): Promise<number>;
  list(project: number): Promise<readonly Trend[]>;
  /** Whether every response that belongs into it is in it; null when there is no such trend. */
  isFilled(project: number, id: number): Promise<boolean | null>;
  /** Whether there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
}

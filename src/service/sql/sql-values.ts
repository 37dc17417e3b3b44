export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * Rows of a list as the JSON text of the specification's resource, each row's text on its own: the engine
 * renders them, since carrying a row over as columns costs more than all else that a list does.
 */
export type JsonRows = readonly string[];

/** A place in a list in creation order: rows after it follow. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

import type { Database, Session } from "./database.ts";
import { assignId } from "./project-states.ts";

/** The rows of a noun: what its rules read and write, as SQL in the transaction that has them. */
export abstract class Rows {
  protected readonly database: Database;
  protected readonly session: Session;

  constructor(database: Database, session: Session) {
    this.database = database;
    this.session = session;
  }

  protected async nextId(project: number): Promise<number> {
    return assignId(this.database, project);
  }
}

import type { Database, Session } from "./database.ts";
import { assignId } from "./project-states.ts";

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

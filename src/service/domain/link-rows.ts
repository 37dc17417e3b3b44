/** Public links to a survey. See `Store` in `ports.ts`. */
import type { Properties } from "../../contract/resources.ts";
import type { Project } from "./inputs.ts";

/** A link that anybody may answer. */
export interface PublicLink {
  readonly project: Project;
  readonly id: number;
  readonly name: string;
  /** Leads to the page that answers it. */
  readonly token: string;
  /** The properties of its responses. */
  readonly properties: Properties;
  readonly createdAt: number;
}

export interface LinkRows {
  /** The new link's id. */
  insert(project: number, link: Pick<PublicLink, "name" | "token" | "properties">): Promise<number>;
  list(project: number): Promise<readonly PublicLink[]>;
  /** True when there was one to delete. */
  delete(project: number, id: number): Promise<boolean>;
  /** In whichever project; null when there is none. */
  byToken(token: string): Promise<PublicLink | null>;
  /** The address that links lead to, as `setAddress` was told last; null when it never was. Of the whole store. */
  address(): Promise<string | null>;
  setAddress(url: string): Promise<void>;
}

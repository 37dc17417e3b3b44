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

/** `address` is where links lead, `listening` where the server itself listens. */
export type AddressKind = "address" | "listening";

export interface LinkRows {
  insert(project: number, link: Pick<PublicLink, "name" | "token" | "properties">): Promise<number>;
  list(project: number): Promise<readonly PublicLink[]>;
  delete(project: number, id: number): Promise<boolean>;
  /** In whichever project; null when there is none. */
  byToken(token: string): Promise<PublicLink | null>;
  /** Of the newest server; null before the first one. */
  address(kind: AddressKind): Promise<string | null>;
  setAddress(kind: AddressKind, url: string): Promise<void>;
}

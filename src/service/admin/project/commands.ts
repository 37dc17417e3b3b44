/** The commands of `service project` and `service key`, and their answers. */
import type { KeyAccess } from "../../../contract/key-access.ts";

export type ProjectCommand =
  | { readonly kind: "project.add"; readonly name: string }
  | { readonly kind: "project.list" }
  /** Ends after so many seconds; absent: never. */
  | {
      readonly kind: "key.add";
      readonly project: string;
      readonly name?: string;
      readonly access?: KeyAccess;
      readonly expiresAfter?: number;
    }
  | { readonly kind: "key.list"; readonly project: string }
  /** The key that `key.revoke` ends, by id or name. */
  | { readonly kind: "key.find"; readonly project: string; readonly id: string }
  /** By id or name. */
  | { readonly kind: "key.revoke"; readonly project: string; readonly id: string }
  /** By id or name; the previous keys end after so many seconds, absent: they stay. */
  | {
      readonly kind: "key.rotate";
      readonly project: string;
      readonly id: string;
      readonly endsAfter?: number;
      readonly expiresAfter?: number;
    };

export interface ProjectInfo {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** Seconds; null for none. */
  readonly throttle: number | null;
  readonly people: number;
  readonly responses: number;
}

export interface KeyInfo {
  readonly id: string;
  readonly name: string | null;
  readonly access: KeyAccess;
  readonly last_four: string;
  readonly created_at: number;
  /** A UTC day such as `2026-11-26`; null for never. */
  readonly last_used_on: string | null;
  /** Null for never. */
  readonly expires_at: number | null;
}

export interface ProjectResults {
  "project.add": { readonly id: string; readonly name: string; readonly key: string };
  "project.list": readonly ProjectInfo[];
  "key.add": { readonly id: string; readonly name: string | null; readonly key: string };
  "key.list": readonly KeyInfo[];
  /** `isLast`: no other key opens the project. */
  "key.find": { readonly key: KeyInfo; readonly isLast: boolean };
  "key.revoke": { readonly id: string };
  "key.rotate": {
    readonly id: string;
    readonly name: string | null;
    readonly key: string;
    /** Ids. */
    readonly previous: readonly string[];
    /** Null: until they are revoked. */
    readonly previous_until: number | null;
  };
}

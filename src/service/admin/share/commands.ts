/** The commands of `service share`, and their answers. */

export type ShareCommand =
  /** Ends after so many seconds; absent: never. `trend` is an id. */
  | {
      readonly kind: "share.add";
      readonly project: string;
      readonly name: string;
      readonly trend: string | null;
      readonly segments: readonly string[];
      readonly comments: boolean;
      readonly expiresAfter?: number;
    }
  | { readonly kind: "share.list"; readonly project: string }
  /** By name, or by id where no page has that name. */
  | { readonly kind: "share.remove"; readonly project: string; readonly id: string };

export interface ShareInfo {
  readonly id: string;
  readonly name: string;
  /** Id of a trend; null for all responses. */
  readonly trend: string | null;
  readonly segments: readonly string[];
  readonly comments: boolean;
  readonly created_at: number;
  /** Null for never. */
  readonly expires_at: number | null;
}

export interface ShareResults {
  /** The link is told once. */
  "share.add": ShareInfo & { readonly url: string };
  "share.list": readonly ShareInfo[];
  "share.remove": Pick<ShareInfo, "id" | "name">;
}

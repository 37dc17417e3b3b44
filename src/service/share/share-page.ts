/** `/d/<token>` is a live page; `.json` or `.csv` gives its numbers. Wrong tokens look like unknown paths. */
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import { toCoreMetrics } from "../../contract/resources.ts";
import { netPromoterScore, scoreInterval } from "../../insight/interval.ts";
import { liveStyle, renderLivePage } from "../../insight/report/live-page.ts";
import type { ScoreTally } from "../domain/ports.ts";
import { findShare } from "../domain/shares/shares.ts";
import { type LinkSignature, readLinkSignature } from "../domain/signed-links.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { type RateLimit, RateLimiter } from "../http/rate-limit.ts";
import { HttpError } from "../http/replies.ts";
import { pageHeaders, sourceHash, stayingWithHttps } from "../page/document.ts";
import { isToken } from "../page/page-request.ts";
import { type FactsOptions, readShareFacts, type ShareFacts } from "./facts.ts";
import { type RangeName, RANGES, readRangeName } from "./ranges.ts";

const WRONG_TOKENS: RateLimit = { requests: 60, periodSeconds: 60 };
const KEPT_MS = 60_000;
const KEPT_MAX = 200;
const PATH = /^\/d\/([\w-]+?)(\.json|\.csv)?$/;

export interface ShareOptions extends FactsOptions {
  readonly publicUrl: string | null;
}

interface Kept {
  readonly atMs: number;
  readonly facts: Promise<ShareFacts>;
}

export class SharePage {
  readonly #options: ShareOptions;
  readonly #wrongTokens: RateLimiter;
  readonly #kept = new Map<string, Kept>();

  constructor(options: ShareOptions) {
    this.#options = options;
    this.#wrongTokens = new RateLimiter(WRONG_TOKENS, options.clock);
  }

  async handle(request: PathRequest): Promise<HttpResponse | null> {
    const { store, publicUrl } = this.#options;
    const [, token = "", suffix] = PATH.exec(request.path) ?? [];
    const given = readLinkSignature(request.query);
    const share = isToken(token) ? await store.read((tx) => findShare(tx, token, given)) : null;
    if (share === null) {
      this.#wrongTokens.admit(request.from);
      return null;
    }
    const { method } = request;
    if (method === "OPTIONS" && suffix !== undefined) return { status: 204, headers: CROSS_ORIGIN, body: "" };
    if (method !== "GET" && method !== "HEAD") throw new HttpError(405, undefined, { allow: "GET, HEAD" });
    const range = readRangeName(request.query);
    if (range === null) throw new HttpError(400, `Bad Request: range is one of ${RANGES.join(", ")}`);
    const facts = await this.#readFacts(share, range);
    const response = suffix === undefined ? page(facts, range, given) : numbers(facts, suffix);
    return stayingWithHttps(response, publicUrl ?? request.origin);
  }

  /** Numbers are cached for a minute, so they can include someone who was erased in the meantime. */
  #readFacts(share: ShareRow, range: RangeName): Promise<ShareFacts> {
    const now = this.#options.clock.monotonic();
    const key = `${share.project.id} ${share.id} ${range}`;
    const known = this.#kept.get(key);
    if (known !== undefined && now - known.atMs < KEPT_MS) return known.facts;
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    const facts = readShareFacts(this.#options, share, range);
    this.#kept.set(key, { atMs: now, facts });
    facts.catch(() => this.#kept.delete(key));
    return facts;
  }
}

function page(facts: ShareFacts, range: RangeName, given: LinkSignature): HttpResponse {
  const { brand } = facts;
  const style = `style-src ${sourceHash(liveStyle(brand))}`;
  const images = `img-src data:${brand.logo === null ? "" : " 'self'"}`;
  const headers = {
    ...pageHeaders(),
    "content-security-policy": `default-src 'none'; ${style}; ${images}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    "content-type": "text/html; charset=utf-8",
  };
  return { status: 200, headers, body: renderLivePage(facts, range, given.signature === "" ? {} : { ...given }) };
}

/** Dashboards on other origins read the numbers, some with custom headers. */
const CROSS_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "*",
};

function numbers(facts: ShareFacts, suffix: string): HttpResponse {
  const isCsv = suffix === ".csv";
  const type = isCsv ? "text/csv; charset=utf-8; header=present" : "application/json; charset=utf-8";
  const headers = { ...pageHeaders(), ...CROSS_ORIGIN, "content-type": type };
  return { status: 200, headers, body: isCsv ? shareCsv(facts) : JSON.stringify(shareJson(facts)) };
}

/** Rounded like the API's metrics (4.7); null without answers. */
function scoreFields(counts: ScoreTally) {
  const { nps, response_count, ...kinds } = toCoreMetrics(counts);
  const interval = scoreInterval(counts);
  return {
    nps: netPromoterScore(counts) === null ? null : nps,
    nps_low: interval === null ? null : Math.min(interval.low, nps),
    nps_high: interval === null ? null : Math.max(interval.high, nps),
    response_count,
    kinds,
  };
}

function shareJson(facts: ShareFacts): object {
  const { kinds, ...score } = scoreFields(facts.counts);
  return {
    name: facts.title,
    computed_at: facts.until,
    since: facts.since,
    until: facts.until,
    ...score,
    promoter_count: kinds.promoter_count,
    passive_count: kinds.passive_count,
    detractor_count: kinds.detractor_count,
    periods: facts.periods.map(({ label, counts }) => {
      const { kinds: _, ...period } = scoreFields(counts);
      return { period: label, ...period };
    }),
    scores: facts.scores,
    segments: (facts.segments?.rows ?? []).map(({ property, value, nps, n }) => {
      return { property, value, nps, response_count: n };
    }),
  };
}

const CSV_HEADER = "period,response_count,promoter_count,passive_count,detractor_count,nps,nps_low,nps_high";

/** The periods as CSV. Cells contain only date labels and numbers, so none can be a formula. */
function shareCsv({ periods }: ShareFacts): string {
  const rows = periods.map(({ label, counts }) => {
    const { kinds, ...score } = scoreFields(counts);
    const row: Readonly<Record<string, string | number | null>> = { period: label, ...score, ...kinds };
    return CSV_HEADER.split(",")
      .map((column) => row[column] ?? "")
      .join(",");
  });
  return [CSV_HEADER, ...rows].map((line) => `${line}\r\n`).join("");
}

/** Bars are table cells, because mail programs drop SVG. */
import type { JsonObject } from "../../contract/json.ts";
import { capital } from "../../contract/text/capital.ts";
import { Html } from "../../contract/text/html.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import { countAnswers, type Kind, kindOf, KINDS, netPromoterScore } from "../interval.ts";
import {
  basisLine,
  cutText,
  headline,
  type ReportComment,
  type DigestFacts,
  rateLine,
  scoreText,
  shareText,
  visibleText,
} from "./facts.ts";
import { lean as html } from "./markup.ts";
import { questionBlock, questionRow, questionText } from "./questions.ts";

const COMMENTS_MAX = 12;
const COMMENT_CHARACTERS_MAX = 280;

interface KindRow {
  readonly kind: Kind;
  readonly name: string;
  readonly count: string;
  readonly share: number;
}

function kindRows({ counts }: DigestFacts): KindRow[] {
  const n = countAnswers(counts);
  return n === 0
    ? []
    : KINDS.toReversed().map((kind) => {
        return { kind, name: capital(kind), count: formatCount(counts[kind]), share: counts[kind] / n };
      });
}

/** Detractors first, because they need a reply most; newest first within a group. */
function digestComments({ comments }: DigestFacts): ReportComment[] {
  return comments
    .map((comment) => ({ ...comment, text: cutText(visibleText(comment.text), COMMENT_CHARACTERS_MAX) }))
    .toSorted((a, b) => rank(a.score) - rank(b.score))
    .slice(0, COMMENTS_MAX);
}

function rank(score: number): number {
  return KINDS.indexOf(kindOf(score));
}

function commentsLine({ commented }: DigestFacts, shown: number): string {
  if (commented === 0) return "No comments";
  const all = countOf(commented, "comment");
  return shown < commented ? `${formatCount(shown)} of ${all}` : all;
}

const BAR_CELLS = 30;

interface DigestFoot {
  readonly why: string;
  readonly leaveUrl: string;
}

export interface DigestFrame {
  readonly foot: DigestFoot | null;
  readonly accent: string | null;
  readonly liveUrl: string | null;
}

const NO_FRAME: DigestFrame = { foot: null, accent: null, liveUrl: null };

export function digestSubject({ title, counts }: Pick<DigestFacts, "title" | "counts">): string {
  const nps = netPromoterScore(counts);
  if (nps === null) return `${title}: no answers`;
  return `${title}: NPS ${scoreText(nps)} (${countOf(countAnswers(counts), "answer")})`;
}

export function digestText(facts: DigestFacts, { foot, liveUrl }: DigestFrame = NO_FRAME): string {
  const rows = kindRows(facts);
  const width = Math.max(0, ...rows.map(({ count }) => count.length));
  const bars = rows.map(({ name, count, share }) => {
    const cells = share === 0 ? 0 : Math.max(1, Math.round(share * BAR_CELLS));
    return `${name.padEnd(10)}  ${shareText(share).padStart(4)}  ${count.padStart(width)}  ${"#".repeat(cells)}`.trimEnd();
  });
  const comments = digestComments(facts);
  const texts = comments.flatMap(({ id, score, at, text, url }) => [
    "",
    `${score} (${at}) [${id}]${url === null ? "" : ` ${url}`}`,
    ...text.split("\n").map((line) => `  ${line}`.trimEnd()),
  ]);
  const head = [facts.title, "", headline(facts), basisLine(facts), ...[rateLine(facts) ?? []].flat()];
  const answers = (facts.questions ?? []).flatMap(questionText);
  const kinds = bars.length === 0 ? [] : ["", ...bars];
  const sections = [...kinds, ...answers, "", commentsLine(facts, comments.length), ...texts];
  const live = liveUrl === null ? [] : ["", `Live page: ${liveUrl}`];
  const end = foot === null ? [] : ["", "-- ", foot.why, `Unsubscribe: ${foot.leaveUrl}`];
  return `${[...head, ...sections, ...live, ...end].join("\n")}\n`;
}

/** The report's dark-mode colors, for mail programs that keep them. `!important` overrides the inline styles. */
const STYLE_SHEET = [
  ":root{color-scheme:light dark;supported-color-schemes:light dark}",
  "@media (prefers-color-scheme:dark){body,.page{background-color:#14171a!important}",
  ".ink{color:#eceff1!important}.soft{color:#a9b2ba!important}.edge{border-color:#333a41!important}",
  ".track{background-color:#333a41!important}.promoters{color:#5fcbb3!important}",
  ".passives{color:#b3bbc2!important}.detractors{color:#ff8f82!important}}",
].join("\n");

/** The report's light colors. Mail programs don't support variables. */
const COLOURS: Readonly<Record<Kind, string>> = { promoters: "#1b7f6b", passives: "#8a949c", detractors: "#c3372b" };
const INKS: Readonly<Record<Kind, string>> = { promoters: "#12705d", passives: "#565e66", detractors: "#b02a1f" };
const FONT = "font-family:Helvetica,Arial,sans-serif;";
const WIDE = new Html('role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"');
const SOFT = `${FONT}font-size:14px;line-height:20px;color:#565e66`;

export function digestHtml(facts: DigestFacts, frame: DigestFrame = NO_FRAME): string {
  const { foot, liveUrl } = frame;
  const comments = digestComments(facts);
  return digestPage(
    facts,
    html`${headRows(facts, frame)}
      <tr>
        <td class="edge" style="border-top:1px solid #16191d;padding:12px 0">
          <table ${WIDE}>
            ${kindRows(facts).map(barRow)}
          </table>
        </td>
      </tr>
      ${(facts.questions ?? []).map(questionRow)}
      <tr>
        <td class="ink" style="padding:8px 0 6px;${FONT}font-size:15px;color:#16191d">
          <b>${commentsLine(facts, comments.length)}</b>
        </td>
      </tr>
      ${comments.map(commentRow)} ${liveUrl === null ? null : liveRow(liveUrl)} ${foot === null ? null : footRow(foot)}`,
  );
}

function barRow({ kind, name, count, share }: KindRow): Html {
  const width = Math.round(share * 100);
  const filled = html`<td width="${width}%" bgcolor="${COLOURS[kind]}" height="14" style="font-size:1px">&nbsp;</td>`;
  const empty = html`<td class="track" width="${100 - width}%" bgcolor="#eef1f3" height="14" style="font-size:1px">
    &nbsp;
  </td>`;
  return html`<tr>
    <td class="soft" width="96" style="${SOFT}">${name}</td>
    <td>
      <table ${WIDE}>
        <tr>
          ${width === 0 ? null : filled}${width === 100 ? null : empty}
        </tr>
      </table>
    </td>
    <td class="ink" width="104" align="right" style="${FONT}font-size:14px;line-height:24px;color:#16191d">
      ${shareText(share)} (${count})
    </td>
  </tr>`;
}

function commentRow({ score, at, id, text, url }: ReportComment): Html {
  const kind = kindOf(score);
  const name = url === null ? `[${id}]` : html`<a class="soft" href="${url}" style="color:#565e66">[${id}]</a>`;
  return html`<tr>
    <td
      class="ink edge"
      style="padding:10px 0;border-top:1px solid #d8dde1;${FONT}font-size:15px;line-height:22px;color:#16191d"
    >
      <span class="soft" style="${SOFT}"
        ><b class="${kind}" style="color:${INKS[kind]}">${score}</b> &nbsp;${at} ${name}</span
      >
      <div dir="auto" style="unicode-bidi:isolate;white-space:pre-wrap">${text}</div>
    </td>
  </tr>`;
}

const MARK_COLOUR = "#d1102a";

/** The brand appears as a colored bar, because mail programs don't load images. */
function headRows(facts: DigestFacts, { accent }: DigestFrame): Html {
  const rate = rateLine(facts);
  return html`<tr>
      <td>
        <table role="presentation" cellpadding="0" cellspacing="0" border="0">
          <tr>
            <td width="42" height="8" bgcolor="${accent ?? MARK_COLOUR}" style="font-size:1px">&nbsp;</td>
          </tr>
        </table>
      </td>
    </tr>
    <tr>
      <td class="soft" style="padding-top:14px;${SOFT}"><span dir="auto">${facts.title}</span></td>
    </tr>
    <tr>
      <td>
        <h1
          class="ink"
          style="margin:4px 0 8px;font-family:Georgia,serif;font-size:26px;line-height:32px;color:#16191d"
        >
          ${headline(facts)}
        </h1>
      </td>
    </tr>
    <tr>
      <td class="soft" style="padding-bottom:16px;${SOFT}">
        ${basisLine(facts)}${rate === null ? null : html`<br />${rate}`}
      </td>
    </tr>`;
}

function digestPage(facts: DigestFacts, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>${digestSubject(facts)}</title>
        <style>
          ${new Html(STYLE_SHEET)}
        </style>
      </head>
      <body style="margin:0;padding:0;background:#ffffff">
        <table class="page" ${WIDE} bgcolor="#ffffff">
          <tr>
            <td class="page" align="center" style="padding:24px 16px;word-break:break-word;overflow-wrap:anywhere">
              <table ${WIDE} style="max-width:560px">
                ${content}
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html> `.text;
}

function liveRow(url: string): Html {
  return html`<tr>
    <td class="soft" style="padding:10px 0 14px;${SOFT}">
      <a class="soft" href="${url}" style="color:#565e66">Live page</a>
    </td>
  </tr>`;
}

function footRow({ why, leaveUrl }: DigestFoot): Html {
  return html`<tr>
    <td class="soft edge" style="padding-top:14px;border-top:1px solid #16191d;${SOFT}">
      ${why} <a class="soft" href="${leaveUrl}" style="color:#565e66">Unsubscribe</a>
    </td>
  </tr>`;
}

const HEADER_MAX = 150;

/** Block Kit. Comments are plain text, which disables formatting and mentions. */
export function digestSlack(facts: DigestFacts, liveUrl: string | null = null): JsonObject {
  const comments = digestComments(facts);
  const kinds = kindRows(facts).map(({ name, count, share }) => `${name} ${shareText(share)} (${count})`);
  return {
    text: `${escapeMrkdwn(facts.title)}: ${headline(facts)} ${basisLine(facts)}`,
    blocks: [
      { type: "header", text: plain(cutText(facts.title, HEADER_MAX - 40)) },
      { type: "section", text: { type: "mrkdwn", text: `*${headline(facts)}*`, verbatim: true } },
      { type: "context", elements: [basisLine(facts), ...[rateLine(facts) ?? []].flat()].map(plain) },
      ...(kinds.length === 0 ? [] : [{ type: "section", fields: kinds.map(plain) }]),
      ...(facts.questions ?? []).map(questionBlock),
      { type: "divider" },
      { type: "context", elements: [plain(commentsLine(facts, comments.length))] },
      ...comments.map((comment) => ({
        type: "rich_text",
        elements: [
          { type: "rich_text_section", elements: slackLabel(comment) },
          { type: "rich_text_quote", elements: [richText(comment.text)] },
        ],
      })),
      ...(liveUrl === null ? [] : [slackLink(liveUrl, "Live page")]),
    ],
  };
}

function slackLink(url: string, text: string): JsonObject {
  return { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "link", url, text }] }] };
}

function slackLabel({ id, score, at, url }: ReportComment): JsonObject[] {
  if (url === null) return [richText(`${score}`, true), richText(`  ${at} [${id}]`)];
  return [richText(`${score}`, true), richText(`  ${at} `), { type: "link", url, text: `[${id}]` }];
}

function plain(text: string): JsonObject {
  return { type: "plain_text", text, emoji: false };
}

function richText(text: string, bold = false): JsonObject {
  return bold ? { type: "text", text, style: { bold: true } } : { type: "text", text };
}

function escapeMrkdwn(text: string): string {
  return text.replace(/&/gu, "&amp;").replace(/</gu, "&lt;").replace(/>/gu, "&gt;");
}

import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import { type Confirmation, InvalidError, UnconfirmedError } from "../../domain/errors.ts";
import type { Project } from "../../domain/inputs.ts";
import type { MessageSender } from "../../domain/delivery/sender.ts";
import type { Actor, DueDigest, DueSurvey, ProjectRow, Store, Transaction, WebhookRow } from "../../domain/ports.ts";
import { requireProject } from "../../domain/projects/projects.ts";
import type { AttemptEnd } from "../../domain/webhooks/attempts.ts";
import { showInput, typed } from "./fields.ts";
import { toJsonSchema } from "./json-schema.ts";

interface Preview {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The whole message as an `.eml` file, with the text and HTML parts. */
  readonly message: string;
}

/** An e-mail to one person, not yet signed. */
export interface ComposedMail {
  /** Envelope sender and recipient. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export interface SentDigest {
  readonly to: string;
  readonly subject: string;
  /** The status in the response of Slack or the mail server; null if it has none. */
  readonly status: number | null;
  readonly text: string;
  /** An e-mail for the command to send from its own machine; null if the digest was posted. */
  readonly mail: ComposedMail | null;
}

export interface ComposedTest {
  readonly subject: string;
  readonly message_id: string;
  readonly mail: ComposedMail;
}

export interface OperationTools {
  readonly actor: Actor;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly appUrl: () => string;
  /** Addresses of this service, which webhooks must not target. */
  readonly ownAddresses: () => readonly string[];
  readonly senders: readonly MessageSender[];
  readonly renderPreview: (survey: DueSurvey) => Promise<Preview>;
  readonly renderDigest: (due: DueDigest) => Promise<Preview>;
  readonly sendDigest: (due: DueDigest) => Promise<SentDigest>;
  /** An e-mail that looks like a survey but says that it is a test. */
  readonly composeTest: (project: Project, to: string) => Promise<ComposedTest>;
  readonly sendTest: (
    webhook: WebhookRow,
    event: { readonly eventId: string; readonly body: string },
  ) => Promise<AttemptEnd>;
  /** Returns the number of deleted messages, or null if the next server to start will delete them. */
  readonly sweepMessages: () => Promise<number | null>;
  readonly onErased: () => Promise<void>;
}

export type Access = "read" | "write";
/** `any` means either one project or all of them. */
export type Scope = "project" | "server" | "any";
type ProjectOf<Of extends Scope> = Of extends "project" ? ProjectRow : Of extends "server" ? null : ProjectRow | null;
type Fields = v.ObjectEntries;
const NO_INPUT = {};
type Schema<Each extends Fields> = v.StrictObjectSchema<Each, undefined>;
type Parsed<Each extends Fields> = v.InferOutput<Schema<Each>>;
type Given<Each extends Fields> = AsReadonly<v.InferInput<Schema<Each>>>;
type AsReadonly<Value> = { readonly [Key in keyof Value]: ReadonlyList<Value[Key]> };
type ReadonlyList<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

interface Noted {
  /** Id of what was changed; defaults to the `id` of the result. */
  readonly id?: string;
  /** The project that a server operation changed, if it was only one. */
  readonly of?: Project;
  /** The result to log, if it differs from what the transaction returns. Strings in it aren't logged. */
  readonly result?: object;
}

interface Spec<Of extends Scope, Each extends Fields, Prepared, Done, Result> {
  /** Defaults to `project`. */
  readonly scope?: Of;
  /** A function if the access depends on the input. */
  readonly access: Access | ((input: Parsed<Each>) => Access);
  readonly input?: Each;
  /** Set to `all` for a server operation that creates a project; other server operations can't change projects. */
  readonly locks?: "all";
  /** Uses a write transaction even for read access, such as for a dry run that ends by throwing `Undone`. */
  readonly writesAnyway?: true;
  /** Describes what would be removed, as read in the same transaction; null if nothing. See `requireConfirmed`. */
  readonly confirm?: (
    tx: Transaction,
    project: ProjectOf<Of>,
    input: Parsed<Each>,
    prepared: Prepared,
  ) => Promise<Confirmation | null>;
  /** Runs before the transaction, and can run several transactions itself. `project` is a name. */
  readonly prepare?: (tools: OperationTools, project: string | null, input: Parsed<Each>) => Promise<Prepared>;
  readonly run: (
    tx: Transaction,
    project: ProjectOf<Of>,
    input: Parsed<Each>,
    tools: OperationTools,
    prepared: Prepared,
  ) => Promise<Done>;
  readonly noted?: (done: Done) => Noted;
  /**
   * Runs after the commit. It must be safe to repeat, because the next start or the same command finishes an
   * interrupted run.
   */
  readonly after?: (tools: OperationTools, done: Done, input: Parsed<Each>) => Promise<Result>;
}

/** Thrown by `run` to roll back and return this result. */
export class Undone<Result> extends Error {
  override readonly name = "Undone";
  readonly result: Result;

  constructor(result: Result) {
    super("the transaction was undone");
    this.result = result;
  }
}

/** `project` is a name, or null for an operation on the server. */
interface Call {
  readonly name: string;
  readonly project: string | null;
}

export interface Operation<Of extends Scope, Input, Result> {
  readonly scope: Of;
  /** The highest access that a call can need. */
  readonly mostAccess: Access;
  readonly describeInput: () => JsonObject;
  access(input: Input): Access;
  /** Runs the operation and logs each change. Throws DomainError. */
  call(tools: OperationTools, call: Call, input: Input): Promise<Result>;
}

export function defineOperation<
  Prepared,
  Done,
  Of extends Scope = "project",
  Each extends Fields = typeof NO_INPUT,
  Result = Done,
>(spec: Spec<Of, Each, Prepared, Done, Result>): Operation<Of, Given<Each>, Result> {
  const { access, writesAnyway = false, confirm, prepare, run, noted, after } = spec;
  const scope = spec.scope ?? ("project" as Of);
  const locks: Place["locks"] = spec.locks ?? (scope === "server" ? "none" : "all");
  const schema = v.strictObject({
    ...(spec.input ?? NO_INPUT),
    ...(confirm !== undefined && CONFIRM),
  }) as unknown as Schema<Each>;
  const requiredAccess = (input: Parsed<Each>): Access => (typeof access === "string" ? access : access(input));
  return {
    scope,
    mostAccess: access === "read" ? "read" : "write",
    describeInput: () => toJsonSchema(schema),
    access: (given) => requiredAccess(readInput(schema, given)),
    call: async (tools, call, given) => {
      const input = readInput(schema, given);
      const prepared = (await prepare?.(tools, call.project, input)) as Prepared;
      const isChange = requiredAccess(input) === "write";
      try {
        const place = { isRead: !isChange && !writesAnyway, project: call.project, locks };
        const done = await inTransaction(tools.store, place, async (tx, found) => {
          const project = found as ProjectOf<Of>;
          if (confirm !== undefined) await requireConfirmed(input, () => confirm(tx, project, input, prepared));
          const made = await run(tx, project, input, tools, prepared);
          if (isChange) {
            const line = { ...call, ...noted?.(made), input, done: made, locks };
            await keepLine(tx, found, tools.actor, line);
          }
          return made;
        });
        return after === undefined ? (done as unknown as Result) : await after(tools, done, input);
      } catch (error) {
        if (error instanceof Undone) return error.result as Result;
        throw error;
      }
    },
  };
}

/** `true`, or the confirmation that came with the refusal. */
export const CONFIRM = {
  confirm: v.optional(
    typed<boolean | JsonObject>(
      (given) => (typeof given === "boolean" || isJsonObject(given) ? given : null),
      (shown) => `${shown} must be true, or the confirm of the refusal`,
      { type: ["boolean", "object"], description: "true, or the confirm of the refusal: refused if it has changed" },
    ),
    false,
  ),
};

/** Throws UnconfirmedError if something would be removed and the removal wasn't confirmed. */
export async function requireConfirmed(
  { confirm: given }: { readonly confirm?: boolean | JsonObject },
  wanted: () => Promise<Confirmation | null>,
): Promise<void> {
  const confirmation = given === true ? null : await wanted();
  if (confirmation !== null && !isDeepStrictEqual(given, confirmation)) throw new UnconfirmedError(confirmation);
}

/** `whole` names the input in errors that aren't about a single field. Throws InvalidError. */
export function readInput<Shape extends v.GenericSchema>(
  schema: Shape,
  given: unknown,
  whole = "input",
): v.InferOutput<Shape> {
  const { success, output, issues } = v.safeParse(schema, given);
  if (success) return output;
  const field = v.getDotPath(issues[0]) ?? whole;
  const phrase = explainIssue(issues[0]);
  throw new InvalidError({ [field]: [phrase] }, `${field}: ${phrase}`);
}

function explainIssue({ type, expected, input, message }: v.BaseIssue<unknown>): string {
  if (type === "strict_object" && expected === "never") return "is not a field here";
  if (type === "strict_object" && expected?.startsWith('"') === true) return "must be given";
  if (type === "custom" || expected === null) return message;
  const wanted = expected
    .replaceAll(/[()"]/g, "")
    .replaceAll(" | ", ", ")
    .replace("Array", "list")
    .replace("Object", "map");
  return `${showInput(input)} is not ${type === "picklist" ? "one of " : "a "}${wanted}`;
}

interface Change extends Call, Noted {
  readonly input: object;
  readonly done: unknown;
  readonly locks: "none" | "all";
}

/** Logs a change in its project; a change to the whole server is logged in every project. */
async function keepLine(tx: Transaction, project: ProjectRow | null, actor: Actor, change: Change): Promise<void> {
  const { name: operation, input, done, locks } = change;
  const id = change.id ?? idOf(done) ?? (/^\d+$/.test(idOf(input) ?? "") ? idOf(input) : null);
  const fields = Object.entries(withoutNulls(input)).filter(([name, value]) => !UNSAID.has(name) && isSaid(value));
  const what = [id ?? [], fields.map(([name]) => name)].flat().join(" ");
  const only = change.of ?? project;
  const projects = only === null ? await tx.projects.list() : [only];
  const deed = { operation, what, result: toPlainResult(change.result ?? done) };
  tx.operationLog.add(projects, actor, [deed], locks);
}

const UNSAID: ReadonlySet<string> = new Set(["id", "confirm", "dry_run"]);

/** False and an empty list count as not given. */
function isSaid(value: unknown): boolean {
  return value !== false && !(Array.isArray(value) && value.length === 0);
}

function idOf(value: unknown): string | null {
  return typeof value === "object" && value !== null && "id" in value ? String(value.id) : null;
}

/** Keeps the result's numbers, times and booleans, but no personal data or secrets. */
function toPlainResult(result: unknown): string | null {
  const fields = typeof result === "object" && result !== null ? Object.entries(result) : [];
  const plain = fields.filter(([, value]) => value === null || ["number", "boolean"].includes(typeof value));
  return plain.length === 0 ? null : JSON.stringify(Object.fromEntries(plain));
}

interface Place {
  readonly isRead: boolean;
  readonly project: string | null;
  readonly locks: "none" | "all";
}

async function inTransaction<Done>(
  store: Store,
  { isRead, project, locks }: Place,
  work: (tx: Transaction, project: ProjectRow | null) => Promise<Done>,
): Promise<Done> {
  if (isRead) return store.read(async (tx) => work(tx, project === null ? null : await requireProject(tx, project)));
  if (project !== null) return writeInProject(store, project, work);
  return store.write((tx) => work(tx, null), { project: locks });
}

/** Doesn't block writes to other projects. Throws NotFoundError. */
export async function writeInProject<Done>(
  store: Store,
  name: string,
  work: (tx: Transaction, project: ProjectRow) => Promise<Done>,
): Promise<Done> {
  const { id } = await store.read((tx) => requireProject(tx, name));
  return store.write(async (tx) => work(tx, await requireProject(tx, name)), { project: id });
}

/** Waits for long changes that the operation has started. */
export async function settle<Done>({ store }: OperationTools, done: Done): Promise<Done> {
  await store.settle();
  return done;
}

export function orNull<const Each extends v.GenericSchema>(schema: Each) {
  return v.optional(v.nullable(schema), null);
}

/** Read access, unless the input has a value outside the fields in `scope`. */
export function writesIfGiven(...scope: readonly string[]): (input: object) => Access {
  return (input) => (Object.keys(withoutNulls(input)).some((name) => !scope.includes(name)) ? "write" : "read");
}

type WithoutNulls<Values> = { readonly [Field in keyof Values]?: NonNullable<Values[Field]> };

export function withoutNulls<Values extends object>(input: Values): WithoutNulls<Values> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as WithoutNulls<Values>;
}

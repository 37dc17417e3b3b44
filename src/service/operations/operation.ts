/** A `service` verb as one record: its input, who may run it, and its transaction. */
import * as v from "valibot";
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { InvalidError } from "../domain/errors.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { DueDigest, DueSurvey, ProjectRow, Store, Transaction, WebhookRow } from "../domain/ports.ts";
import { requireProject } from "../domain/projects/projects.ts";
import type { AttemptEnd } from "../domain/webhooks/attempts.ts";

interface Preview {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** An `.eml` file: headers and both parts. */
  readonly message: string;
}

export interface SentDigest {
  readonly to: string;
  readonly subject: string;
  /** The response of Slack or the mail server; null if it has no number. */
  readonly status: number | null;
  readonly text: string;
}

/** What operations need besides their transaction. */
export interface OperationTools {
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
  readonly sendTest: (
    webhook: WebhookRow,
    event: { readonly eventId: string; readonly body: string },
  ) => Promise<AttemptEnd>;
  /** Deletes messages of people who are gone. Returns their number, or null if the next server does it. */
  readonly sweepMessages: () => Promise<number | null>;
  readonly onErased: () => Promise<void>;
}

export type Access = "read" | "write";
/** `any`: one project, or all. */
export type Scope = "project" | "server" | "any";
type ProjectOf<Of extends Scope> = Of extends "project" ? ProjectRow : Of extends "server" ? null : ProjectRow | null;
type Fields = v.ObjectEntries;
type Schema<Each extends Fields> = v.StrictObjectSchema<Each, undefined>;
type Parsed<Each extends Fields> = v.InferOutput<Schema<Each>>;
/** As passed by callers, who can omit fields with a default. */
type Given<Each extends Fields> = AsReadonly<v.InferInput<Schema<Each>>>;
type AsReadonly<Value> = { readonly [Key in keyof Value]: ReadonlyList<Value[Key]> };
type ReadonlyList<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

interface Spec<Of extends Scope, Each extends Fields, Prepared, Done, Result> {
  readonly scope: Of;
  /** Depends on the input if the operation only shows values when there is nothing to change. */
  readonly access: Access | ((input: Parsed<Each>) => Access);
  readonly input: Each;
  /** A dry run that makes its changes and then throws `Undone`. */
  readonly writesAnyway?: true;
  /** `all` for a server operation that creates a project; others can't change projects. */
  readonly locks?: "all";
  /** Reads in as many transactions as needed. `project` is a name. */
  readonly prepare?: (tools: OperationTools, project: string | null, input: Parsed<Each>) => Promise<Prepared>;
  readonly run: (
    tx: Transaction,
    project: ProjectOf<Of>,
    input: Parsed<Each>,
    tools: OperationTools,
    prepared: Prepared,
  ) => Promise<Done>;
  /** Runs after the commit and can be repeated: if killed, the next start or the same command finishes it. */
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

export interface Operation<Of extends Scope, Input, Result> {
  readonly scope: Of;
  access(input: Input): Access;
  /** `project` is a name, or null for a server operation. Throws DomainError. */
  call(tools: OperationTools, project: string | null, input: Input): Promise<Result>;
}

export function defineOperation<Of extends Scope, Each extends Fields, Prepared, Done, Result = Done>(
  spec: Spec<Of, Each, Prepared, Done, Result>,
): Operation<Of, Given<Each>, Result> {
  const { scope, access, writesAnyway = false, prepare, run, after } = spec;
  const locks: Place["locks"] = spec.locks ?? (scope === "server" ? "none" : "all");
  const schema = v.strictObject(spec.input);
  const requiredAccess = (input: Parsed<Each>): Access => (typeof access === "string" ? access : access(input));
  return {
    scope,
    access: (given) => requiredAccess(read(schema, given)),
    call: async (tools, project, given) => {
      const input = read(schema, given);
      const prepared = (await prepare?.(tools, project, input)) as Prepared;
      const place = { isRead: requiredAccess(input) === "read" && !writesAnyway, project, locks };
      try {
        const done = await inTransaction(tools.store, place, (tx, found) =>
          run(tx, found as ProjectOf<Of>, input, tools, prepared),
        );
        return after === undefined ? (done as unknown as Result) : await after(tools, done, input);
      } catch (error) {
        if (error instanceof Undone) return error.result as Result;
        throw error;
      }
    },
  };
}

function read<Each extends Fields>(schema: Schema<Each>, given: unknown): Parsed<Each> {
  const { success, output, issues } = v.safeParse(schema, given);
  if (success) return output;
  throw new InvalidError({ [v.getDotPath(issues[0]) ?? "input"]: [issues[0].message] });
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
  if (project !== null) return (isRead ? readInProject : writeInProject)(store, project, work);
  if (isRead) return store.read((tx) => work(tx, null));
  return store.write((tx) => work(tx, null), { project: locks });
}

function readInProject<Done>(
  store: Store,
  name: string,
  work: (tx: Transaction, project: ProjectRow) => Promise<Done>,
): Promise<Done> {
  return store.read(async (tx) => work(tx, await requireProject(tx, name)));
}

/** Doesn't block writes of other projects. Throws NotFoundError. */
export async function writeInProject<Done>(
  store: Store,
  name: string,
  work: (tx: Transaction, project: ProjectRow) => Promise<Done>,
): Promise<Done> {
  const { id } = await store.read((tx) => requireProject(tx, name));
  return store.write(async (tx) => work(tx, await requireProject(tx, name)), { project: id });
}

/** For `after`: waits for long changes that follow from the operation. */
export async function settle<Done>({ store }: OperationTools, done: Done): Promise<Done> {
  await store.settle();
  return done;
}

/** An optional field, null if omitted. */
export function orNull<const Each extends v.GenericSchema>(schema: Each) {
  return v.optional(v.nullable(schema), null);
}

/** For `access`: read-only unless the input has a value other than the fields in `scope`. */
export function writesIfGiven(...scope: readonly string[]): (input: object) => Access {
  return (input) => (Object.keys(withoutNulls(input)).some((name) => !scope.includes(name)) ? "write" : "read");
}

type WithoutNulls<Values> = { readonly [Field in keyof Values]?: NonNullable<Values[Field]> };

export function withoutNulls<Values extends object>(input: Values): WithoutNulls<Values> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as WithoutNulls<Values>;
}

/** What a `service` verb does, as one record: what it takes, who may do it, and its transaction. */
import * as v from "valibot";
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { InvalidError, NotFoundError } from "../domain/errors.ts";
import type { ProjectRow, Store, Transaction } from "../domain/ports.ts";
import { findProject } from "../domain/projects/projects.ts";

/** The parts of an open service that operations use besides their transaction. */
export interface OperationTools {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The beginning of links, without a slash at the end. */
  readonly appUrl: () => string;
}

export type Access = "read" | "write";
export type Scope = "project" | "server";
type ProjectOf<Of extends Scope> = Of extends "project" ? ProjectRow : null;
type Fields = v.ObjectEntries;
type Schema<Each extends Fields> = v.StrictObjectSchema<Each, undefined>;
type Given<Each extends Fields> = AsReadonly<v.InferInput<Schema<Each>>>;
type AsReadonly<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends (infer Item)[] ? readonly Item[] : Value[Key];
};

interface Spec<Of extends Scope, Each extends Fields, Done, Result> {
  readonly scope: Of;
  /** By the input, if the operation only shows something when there is nothing to change. */
  readonly access: Access | ((input: v.InferOutput<Schema<Each>>) => Access);
  readonly input: Each;
  /** One transaction: all of it happens or nothing. */
  readonly run: (
    tx: Transaction,
    project: ProjectOf<Of>,
    input: v.InferOutput<Schema<Each>>,
    tools: OperationTools,
  ) => Promise<Done>;
  /** Follows the commit. It can be repeated: after a kill the next start or the same command finishes it. */
  readonly after?: (tools: OperationTools, done: Done, input: v.InferOutput<Schema<Each>>) => Promise<Result>;
}

/** Plain data in and out. */
export interface Operation<Of extends Scope, Input, Result> {
  readonly scope: Of;
  /** Throws InvalidError. */
  access(input: Input): Access;
  /** `project` is a name, null for an operation of the server. Throws DomainError. */
  call(tools: OperationTools, project: string | null, input: Input): Promise<Result>;
}

export function defineOperation<Of extends Scope, Done, Each extends Fields, Result = Done>(
  spec: Spec<Of, Each, Done, Result>,
): Operation<Of, Given<Each>, Result> {
  const { scope, access, run, after } = spec;
  const schema = v.strictObject(spec.input);
  const accessOf = (input: v.InferOutput<Schema<Each>>): Access =>
    typeof access === "string" ? access : access(input);
  return {
    scope,
    access: (given) => accessOf(read(schema, given)),
    call: async (tools, project, given) => {
      const input = read(schema, given);
      const done = await inTransaction(tools.store, { access: accessOf(input), project }, (tx, found) =>
        run(tx, found as ProjectOf<Of>, input, tools),
      );
      return after === undefined ? (done as unknown as Result) : after(tools, done, input);
    },
  };
}

function read<Each extends Fields>(schema: Schema<Each>, given: unknown): v.InferOutput<Schema<Each>> {
  const { success, output, issues } = v.safeParse(schema, given);
  if (success) return output;
  throw new InvalidError({ [v.getDotPath(issues[0]) ?? "input"]: [issues[0].message] });
}

/** A write locks only its project. */
async function inTransaction<Done>(
  store: Store,
  { access, project: name }: { readonly access: Access; readonly project: string | null },
  work: (tx: Transaction, project: ProjectRow | null) => Promise<Done>,
): Promise<Done> {
  if (name === null)
    return access === "read" ? store.read((tx) => work(tx, null)) : store.write((tx) => work(tx, null));
  const inProject = async (tx: Transaction): Promise<Done> => work(tx, await requireProject(tx, name));
  if (access === "read") return store.read(inProject);
  const { id } = await store.read((tx) => requireProject(tx, name));
  return store.write(inProject, { project: id });
}

/** Throws NotFoundError. */
async function requireProject(tx: Transaction, name: string): Promise<ProjectRow> {
  const project = await findProject(tx, name);
  if (project === null) throw new NotFoundError(`there is no project ${JSON.stringify(name)}`);
  return project;
}

/** For `after`: waits for the work over many rows that follows from the change. */
export async function settle<Done>({ store }: OperationTools, done: Done): Promise<Done> {
  await store.settle();
  return done;
}

/** A field that may be left out; null then, too. */
export function orNull<const Each extends v.GenericSchema>(schema: Each) {
  return v.optional(v.nullable(schema), null);
}

import type { JsonObject } from "../../contract/json.ts";
import { InvalidError } from "../domain/errors.ts";
import type { Project } from "../domain/inputs.ts";
import type { Actor } from "../domain/ports.ts";
import type { Access, Operation, OperationTools, Scope } from "./define/operation.ts";
import { OUTPUTS } from "./define/outputs.ts";
import { bounceOperations } from "./bounces.ts";
import { configurationOperations } from "./configuration.ts";
import { deliveryOperations } from "./delivery.ts";
import { digestOperations } from "./digests.ts";
import { logOperations } from "./log.ts";
import { pageOperations } from "./pages.ts";
import { LOCAL_FIELDS, privacyOperations } from "./privacy.ts";
import { projectOperations } from "./projects.ts";
import { questionOperations } from "./questions.ts";
import { settingsOperations } from "./settings.ts";
import { shareOperations } from "./shares.ts";
import { trendOperations } from "./trends.ts";
import { webhookOperations } from "./webhooks.ts";

const OPERATIONS = {
  ...projectOperations,
  ...settingsOperations,
  ...configurationOperations,
  ...pageOperations,
  ...shareOperations,
  ...trendOperations,
  ...questionOperations,
  ...digestOperations,
  ...webhookOperations,
  ...bounceOperations,
  ...deliveryOperations,
  ...privacyOperations,
  ...logOperations,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;

export type InputOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer Input, infer _Result> ? Input : never;
export type ResultOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer _Input, infer Result> ? Result : never;
export type ScopeOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer Of, infer _Input, infer _Result> ? Of : never;
type ProjectField<Name extends OperationName> =
  ScopeOf<Name> extends "server" ? object : { readonly project?: string | null };

export function requiredAccess(call: { readonly kind: OperationName }): Access {
  const { operation, input } = resolve(call);
  return operation.access(input);
}

/** Carries out operations on an open store. Without a project: on `default`, or on all. Throws DomainError. */
export type Admin = <Name extends OperationName>(
  call: { readonly kind: Name } & ProjectField<Name> & InputOf<Name> & { readonly confirm?: boolean },
) => Promise<ResultOf<Name>>;

export function createAdmin(tools: OperationTools, actor: Actor): Admin {
  return async <Name extends OperationName>(call: { readonly kind: Name }) => {
    const { operation, project, input } = resolve(call);
    return (await operation.call(tools, { name: call.kind, project, actor }, input)) as ResultOf<Name>;
  };
}

const DEFAULT_PROJECT = "default";

function resolve(call: { readonly kind: OperationName }) {
  const { kind, project = null, ...input } = call as { kind: OperationName; project?: string | null };
  const operation: Operation<Scope, object, unknown> = OPERATIONS[kind];
  return { operation, project: operation.scope === "project" ? (project ?? DEFAULT_PROJECT) : project, input };
}

/** Operations of one project, for callers elsewhere. */
export interface Administration {
  /** Those that a key may use, with JSON Schemas of what they take and return. */
  readonly list: () => readonly JsonObject[];
  readonly has: (name: string) => boolean;
  /** Null for a name without an operation. Throws DomainError. */
  readonly call: (name: string, project: Project, actor: Actor, input: JsonObject) => Promise<unknown> | null;
}

type ServedName = { [Name in OperationName]: ScopeOf<Name> extends "server" ? never : Name }[OperationName];
/** Each operation that is served has one. */
const SERVED_OUTPUTS: Readonly<Record<string, JsonObject>> = OUTPUTS satisfies Record<ServedName, JsonObject>;

export function createAdministration(tools: OperationTools): Administration {
  const served = new Map<string, Operation<Scope, object, unknown>>(
    Object.entries(OPERATIONS).filter(([, { scope }]) => scope !== "server"),
  );
  return {
    list: () =>
      [...served].map(([name, operation]) => ({
        name,
        scope: "project",
        access: operation.mostAccess,
        input: withoutFields(operation.describeInput(), LOCAL_FIELDS[name] ?? []),
        output: SERVED_OUTPUTS[name] ?? {},
      })),
    has: (name) => served.has(name),
    call: (name, project, actor, input) =>
      refuseLocalFields(name, input) ??
      served.get(name)?.call(tools, { name, project: project.name, actor }, input) ??
      null,
  };
}

async function never(error: Error): Promise<never> {
  throw error;
}

/** Null if there are none. */
function refuseLocalFields(name: string, input: JsonObject): Promise<never> | null {
  const given = (LOCAL_FIELDS[name] ?? []).find((field) => input[field] !== undefined && input[field] !== null);
  return given === undefined ? null : never(new InvalidError({ [given]: ["can only be set where the data is"] }));
}

function withoutFields(schema: JsonObject, names: readonly string[]): JsonObject {
  const properties = Object.entries(schema["properties"] as JsonObject).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

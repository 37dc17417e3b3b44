/** All operations by name. */
import type { Access, Operation, OperationTools, Scope } from "./operation.ts";
import { shareOperations } from "./shares.ts";
import { trendOperations } from "./trends.ts";

const OPERATIONS = { ...trendOperations, ...shareOperations };

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;

/** What an operation takes besides its project. */
export type InputOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer Input, infer _Result> ? Input : never;
export type ResultOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer _Input, infer Result> ? Result : never;
type ProjectField<Name extends OperationName> =
  Operations[Name] extends Operation<"project", infer _Input, infer _Result> ? { readonly project: string } : unknown;

/** A call of an operation. */
export type OperationCall<Name extends OperationName = OperationName> = Name extends OperationName
  ? { readonly kind: Name } & ProjectField<Name> & InputOf<Name>
  : never;

export function accessOf(call: OperationCall): Access {
  const { operation, input } = resolve(call);
  return operation.access(input);
}

/** Throws DomainError. */
export async function callOperation<Call extends OperationCall>(
  tools: OperationTools,
  call: Call,
): Promise<ResultOf<Call["kind"]>> {
  const { operation, project, input } = resolve(call);
  return (await operation.call(tools, project, input)) as ResultOf<Call["kind"]>;
}

function resolve(call: OperationCall) {
  const { kind, project = null, ...input } = call as { kind: OperationName; project?: string };
  const operation: Operation<Scope, object, unknown> = OPERATIONS[kind];
  return { operation, project, input };
}

export function isOperation(command: { readonly kind: string }): command is OperationCall {
  return Object.hasOwn(OPERATIONS, command.kind);
}

import type { Json, JsonObject } from "./json.ts";
import { OPERATIONS_PATH } from "./key-access.ts";
import { E164 } from "./text/phone.ts";
import { type Field, type FieldType, PLATFORMS, RESOURCES } from "./resources.ts";
import { type Parameter, type ParameterType, type Route, ROUTES } from "./routes.ts";

export interface ApiDescription {
  readonly version: string;
  readonly serverUrl: string | null;
  readonly operations: readonly OperationSchemas[];
}

export interface OperationSchemas {
  readonly name: string;
  readonly input: JsonObject;
  readonly output: JsonObject;
}

export function toOpenApi({ version, serverUrl, operations }: ApiDescription): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of Object.values(ROUTES) as readonly Route[])
    (paths[`${route.path}.json`] ??= {})[route.method.toLowerCase()] = toOperation(route);
  for (const operation of operations) paths[`${OPERATIONS_PATH}/${operation.name}`] = toAdministration(operation);
  return {
    openapi: "3.1.0",
    info: { title: "Feedback survey API", version },
    servers: [{ url: serverUrl ?? "/" }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "basic", description: "The API key is the user name; the password is empty." },
      },
      schemas: {
        ...Object.fromEntries(
          Object.entries(RESOURCES).map(([name, fields]) => [name, toObject(fields, name === "metrics")]),
        ),
        refusal: REFUSAL,
      },
      responses: {
        refused: { description: "Refused or failed", ...toContent({ $ref: "#/components/schemas/refusal" }) },
      },
    },
  };
}

const REFUSAL: JsonObject = {
  type: "object",
  required: ["status", "message"],
  properties: {
    status: { type: "integer" },
    message: { type: "string" },
    errors: {
      type: "object",
      description: "Errors of each attribute; only with status 422",
      additionalProperties: { type: "array", items: { type: "string" } },
    },
    confirm: { type: "object", description: "What an operation would remove; only with status 409" },
  },
};

const STATUS_WORDS: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" };
const REFUSED: JsonObject = { $ref: "#/components/responses/refused" };

function toOperation(route: Route): JsonObject {
  const { name, summary, method, parameters, statuses } = route;
  const answer = toAnswer(route);
  const [query, body] = [parameters.filter(isIn("query", method)), parameters.filter(isIn("body", method))];
  const given = [...pathParameters(route), ...query.map(toQueryParameter), ...cursorParameters(route)];
  return {
    operationId: name,
    summary,
    tags: [route.path.split("/")[2] ?? ""],
    ...(given.length > 0 && { parameters: given }),
    ...(body.length > 0 && { requestBody: { required: true, ...toBody(route, body) } }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, { description: STATUS_WORDS[status] ?? "", ...answer }])),
      "4XX": REFUSED,
      "5XX": REFUSED,
    },
  };
}

function toAdministration({ name, input, output }: OperationSchemas): JsonObject {
  const post = {
    operationId: name,
    summary: `administration: ${name.replace(".", " ")}`,
    tags: ["operations"],
    requestBody: { required: true, ...toContent(input) },
    responses: { 200: { description: "OK", ...toContent(output) }, "4XX": REFUSED, "5XX": REFUSED },
  };
  return { post };
}

function isIn(place: "query" | "body", method: Route["method"]): (parameter: Parameter) => boolean {
  return ({ isQuery = false }) => (method === "GET" || isQuery) === (place === "query");
}

function pathParameters({ path }: Route): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", ...(name === "platform" && { enum: [...PLATFORMS] }) },
  }));
}

/** Arrays are repeated `name[]=value` (section 1). */
function toQueryParameter({ name, text, required = false, ...rest }: Parameter): JsonObject {
  return {
    name: rest.type === "array" ? `${name}[]` : name,
    in: "query",
    ...(text !== undefined && { description: text }),
    ...(required && { required }),
    schema: toSchema({ name, ...rest }),
  };
}

function cursorParameters({ pagination }: Route): JsonObject[] {
  if (pagination !== "cursor") return [];
  const description = "start of the page, from the previous page's Link header";
  return [{ name: "page_info", in: "query", description, schema: { type: "string" } }];
}

function toBody({ anyOf, oneOf }: Route, parameters: readonly Parameter[]): JsonObject {
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name);
  const schema: JsonObject = {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ text, ...parameter }) => {
        const described = text === undefined ? {} : { description: text };
        return [parameter.name, { ...toSchema(parameter), ...described }];
      }),
    ),
    ...(required.length > 0 && { required }),
    ...(anyOf !== undefined && { anyOf: alternatives(anyOf) }),
    ...(oneOf !== undefined && { oneOf: alternatives(oneOf) }),
  };
  return toContent(schema);
}

function alternatives(names: readonly string[]): Json[] {
  return names.map((name) => ({ required: [name] }));
}

const TYPES: Readonly<Record<ParameterType | FieldType, JsonObject>> = {
  array: { type: "array" },
  boolean: { type: "boolean" },
  email: { type: "string", format: "email" },
  integer: { type: "integer" },
  map: { type: "object", additionalProperties: true },
  object: { type: "object" },
  phone: { type: "string", pattern: E164.source },
  string: { type: "string" },
  timestamp: { type: "integer", format: "int64", description: "Unix seconds" },
};

function toSchema({ type, choices, items, minimum, maximum, otherwise }: Parameter): JsonObject {
  const text = { type: "string", ...(choices !== undefined && { enum: [...choices] }) };
  return {
    ...(type === "string" ? text : TYPES[type]),
    ...(type === "array" && { items: items === "map" ? TYPES.map : text }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(otherwise !== undefined && { default: otherwise }),
  };
}

function toAnswer({ pagination, resource, expanded }: Route): JsonObject {
  const [plain = {}, ...more] = [resource, ...(expanded === undefined ? [] : [expanded])].map((name): JsonObject => ({
    $ref: `#/components/schemas/${name}`,
  }));
  const schema = more.length === 0 ? plain : { anyOf: [plain, ...more] };
  const description = 'The next page as <…>; rel="next"; absent on the last page';
  return {
    ...(pagination === "cursor" && { headers: { Link: { description, schema: { type: "string" } } } }),
    ...toContent(pagination === "none" ? schema : { type: "array", items: schema }),
  };
}

/** `open` allows extra and missing fields: metrics depend on the requested groups. */
function toObject(fields: readonly Field[], open: boolean): JsonObject {
  return {
    type: "object",
    ...(!open && { required: fields.map(({ name }) => name) }),
    properties: Object.fromEntries(fields.map((field) => [field.name, toFieldSchema(field)])),
    ...(open && { additionalProperties: { type: ["number", "null"] } }),
  };
}

function toFieldSchema({ type, nullable, of }: Field): JsonObject {
  const kinds = of.map((name) => (name === "string" ? TYPES.string : { $ref: `#/components/schemas/${name}` }));
  const [only = {}] = kinds;
  const inner: JsonObject = kinds.length > 1 ? { anyOf: kinds } : only;
  if (type === "array") return { ...TYPES.array, items: inner, ...(nullable && { type: ["array", "null"] }) };
  if (of.length > 0) return nullable ? { anyOf: [...kinds, { type: "null" }] } : inner;
  return nullable ? { ...TYPES[type], type: [TYPES[type].type ?? "string", "null"] } : TYPES[type];
}

function toContent(schema: JsonObject): JsonObject {
  return { content: { "application/json": { schema } } };
}

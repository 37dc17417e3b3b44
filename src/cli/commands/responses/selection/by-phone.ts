/**
 * Responses of the person with one phone number, which the API's filters do not know (4.3): the person is looked up.
 */
import type { Client } from "../../../../client/client.ts";
import { ROUTES } from "../../../../contract/routes.ts";
import type { EmailOrPhone } from "../../../args/people.ts";
import type { Deps } from "../../../command/deps.ts";
import { NothingFoundError } from "../../../errors/command-errors.ts";
import { findPerson, idOfPerson, notFound } from "../../people/get.ts";

/** The same with a connection whose lists of responses have those of that person alone; null leaves it as it is. */
export function forPhone(deps: Deps, phone: string | null): Deps {
  if (phone === null) return deps;
  return {
    ...deps,
    connect: async () => {
      const connection = await deps.connect();
      try {
        return { ...connection, client: await narrow(connection.client, { phone_number: phone }, deps.signal) };
      } catch (error) {
        await connection.close();
        throw error;
      }
    },
  };
}

async function narrow(client: Client, person: EmailOrPhone, signal: AbortSignal): Promise<Client> {
  const found = await findPerson(client, person, signal);
  if (found === null) throw new NothingFoundError(notFound(person));
  const own = { person_id: idOfPerson(client, found) };
  return {
    ...client,
    listResponses: (parameters, options) => client.listResponses({ ...parameters, ...own }, options),
    page: (call) => {
      const isOfResponses = call.route === ROUTES.listResponses;
      return client.page(isOfResponses ? { ...call, parameters: { ...call.parameters, ...own } } : call);
    },
  };
}

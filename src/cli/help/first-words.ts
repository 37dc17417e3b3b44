import { fill } from "./help-layout.ts";
import { NOUNS } from "../program/nouns.ts";

/** The output of `surveyctl` alone: where to begin. */
export function firstWords(): string {
  const names = fill(
    NOUNS.map(({ name }) => name)
      .join(", ")
      .split(" "),
    68,
  ).join("\n          ");
  return `surveyctl asks people how likely they are to recommend you and counts answers:
the command line for the feedback survey (NPS) API, and the service itself.

Where to begin:
  surveyctl demo                         watch the main job run, on this machine
  surveyctl auth login                   connect to a service you have a key for
  surveyctl --profile local people list  work without a server, in a local file
  surveyctl serve --data survey.db       run the service for others

Then:
  surveyctl people import customers.csv  ask your customers
  surveyctl metrics                      see what they think

Commands: ${names}

Use "surveyctl --help" for what each does, "surveyctl help <topic>" for more.
`;
}

import { expect, it } from "vitest";
import { withoutOurWords } from "../../../../src/service/domain/sms/our-words.ts";

const QUESTION = "How likely are you to recommend us to a friend?";
const HELP = "Acme: Please reply with a number from 0 to 10. Reply STOP to opt out.";
const OURS = [`${QUESTION}\n${HELP}`, `Acme: ${QUESTION}\nhttps://s.example/s/TOKEN\nReply STOP to opt out.`];

it.each([
  `Loved “${QUESTION}”`,
  `Liked “${QUESTION}\n${HELP}”`,
  `Laughed at "something else"`,
  `Reacted 👍 to “${QUESTION}”`,
  `👍 to “${QUESTION}”`,
  `Removed a heart from “${QUESTION}”`,
  `Loved ‘${QUESTION}’`,
  "Loved an image",
  `A adoré « ${QUESTION}\n${HELP} »`,
  `Hat „${QUESTION}\n${HELP}“ geliebt`,
  `${QUESTION}\n${HELP}`,
  `> ${QUESTION}\n> ${HELP}`,
  HELP,
  "I’m driving with Driving Focus turned on. I’ll see your message when I get where I’m going.",
  "I'm driving right now.",
  "(I’m not receiving notifications. If this is urgent, reply “urgent” to send a notification through.)",
  "Ich fahre gerade mit aktiviertem Fokus „Fahren“.",
])("nothing of %j is a person's", (text) => {
  expect(withoutOurWords(text, OURS)).toBeNull();
});

it.each([
  ["9", "9"],
  ["STOP to get no more messages", "STOP to get no more messages"],
  ["Reply STOP to opt out.", "Reply STOP to opt out."],
  [`> ${QUESTION}\n\n9 great`, "9 great"],
  [`STOP\n> ${HELP}`, "STOP"],
  [`9 great\n\n${OURS[1]}`, "9 great"],
  ["Loved the soup", "Loved the soup"],
  ["I'm driving a Tesla and your charger broke", "I'm driving a Tesla and your charger broke"],
  ['They said "no more" to me', 'They said "no more" to me'],
])("of %j a person wrote %j", (text, said) => {
  expect(withoutOurWords(text, OURS)).toBe(said);
});

// What the models of these agents say, in place of a real one, and the tools that they call.

/** @type {({calls: [string, Record<string, string>][]} | {text: string})[]} */
const STEPS = [
  {calls: [["delete_file", {path: "notes.txt"}], ["send_mail", {to: "ada@example.org"}], ["write_file", {path: "a.txt"}]]},
  {text: "Done. Your key was 1234."},
  {text: "There is drafts/a.txt."},
];

/** The model's next step, given what it was sent: as it says here, nothing of it has the secret. */
export function nextStep(/** @type {unknown} */ request) {
  console.log(`the model got the key: ${JSON.stringify(request).includes("1234")}`);
  return STEPS.shift() ?? {text: "Bye."};
}

/** @type {Record<string, (input: any) => string>} */
export const TOOLS = {
  delete_file: ({path}) => `deleted ${path}`,
  send_mail: ({to}) => `sent to ${to}`,
  write_file: ({path}) => `wrote ${path}`,
};

export const PROMPT = "My key is 1234. Tidy up.";

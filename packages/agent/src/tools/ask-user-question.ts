/**
 * The only tool that the server does not run: its call ends the turn with an open question, and the
 * client answers with the tool's output.
 */
import { z } from "zod";

const option = z.object({
  label: z.string().min(1).describe("What the user chooses, one to five words"),
  description: z.string().describe("What choosing it means"),
});

export const askUserQuestion = {
  name: "ask_user_question",
  description: `Ask the user and wait for the answer. Use it when the task is ambiguous in a way that only the user can settle, not for what you can find out yourself.
- One to four questions, each with two to four options; the user can also answer in own words.
- Set multiSelect when several options may be chosen.
- The answer is {answers: {question: label or labels}}, or {declined: true}: then go on without it.`,
  input: z.object({
    questions: z
      .array(
        z.object({
          question: z.string().min(1).describe("The whole question"),
          header: z.string().min(1).describe("A very short title"),
          options: z.array(option).min(2).max(4),
          multiSelect: z.boolean().optional(),
        }),
      )
      .min(1)
      .max(4),
  }),
} as const;

/** An answer from a client. */
export const userAnswer = z.union([
  z.object({
    answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  }),
  z.object({ declined: z.literal(true) }),
]);

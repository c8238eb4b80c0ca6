import { useId, useRef, useState } from "react";
import { Button } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Form, Input } from "../../_ui/form.tsx";
import { Check, MessageCircleQuestion } from "../../_ui/icons.tsx";
import { focusConversation } from "../_message/message-actions.ts";
import { type Question, readAnswers, readQuestions, type ToolCall } from "../_state/tool-call.ts";

type Draft = Readonly<{ chosen: readonly string[]; own: string }>;

const noDraft: Draft = { chosen: [], own: "" };

interface QuestionCardProps {
  readonly call: ToolCall;
  /** Null while the questions cannot be answered. */
  readonly onAnswer: ((output: unknown) => void) | null;
}

/** The questions of the agent, with buttons to answer them. It stays visible after they are answered. */
export function QuestionCard({ call, onAnswer }: QuestionCardProps) {
  const questions = readQuestions(call.input);
  const card = useRef<HTMLElement>(null);
  const answer = (output: unknown) => {
    if (card.current) focusConversation(card.current);
    onAnswer?.(output);
  };
  return (
    <section
      ref={card}
      aria-label="Question from the agent"
      className="flex flex-col gap-4 rounded-xl border bg-surface p-4 shadow-xs"
    >
      {call.state === "open" && onAnswer !== null ? (
        <OpenQuestions questions={questions} onAnswer={answer} />
      ) : (
        <Answered questions={questions} call={call} />
      )}
    </section>
  );
}

interface OpenQuestionsProps {
  readonly questions: readonly Question[];
  readonly onAnswer: (output: unknown) => void;
}

function OpenQuestions({ questions, onAnswer }: OpenQuestionsProps) {
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const draftOf = ({ question }: Question) => drafts[question] ?? noDraft;
  const answers = questions.map((question) => {
    const { chosen, own } = draftOf(question);
    const given = [...chosen, ...(own.trim() === "" ? [] : [own.trim()])];
    return [question.question, question.multiSelect ? given : given.at(-1)] as const;
  });
  const isComplete = answers.every(([, answer]) => answer?.length);
  const change = (question: Question, draft: Partial<Draft>) => {
    // One choice takes the place of a written answer, and the other way around.
    const before = question.multiSelect ? draftOf(question) : noDraft;
    setDrafts({ ...drafts, [question.question]: { ...before, ...draft } });
  };
  const choose = (question: Question, label: string) => {
    // A single choice for a single question is sent at once.
    if (questions.length === 1 && !question.multiSelect) {
      return onAnswer({ answers: { [question.question]: label } });
    }
    const { chosen } = draftOf(question);
    const others = question.multiSelect ? chosen.filter((one) => one !== label) : [];
    change(question, { chosen: chosen.includes(label) ? others : [...others, label] });
  };
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={() => isComplete && onAnswer({ answers: Object.fromEntries(answers) })}
    >
      {questions.map((question) => (
        <OpenQuestion
          key={question.question}
          {...question}
          {...draftOf(question)}
          onChoose={(label) => choose(question, label)}
          onWrite={(own) => change(question, { own })}
        />
      ))}
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="ghost" size="sm" onClick={() => onAnswer({ declined: true })}>
          Skip
        </Button>
        <Button type="submit" size="sm" disabled={!isComplete}>
          Send {questions.length > 1 ? "answers" : "answer"}
        </Button>
      </div>
    </Form>
  );
}

interface OpenQuestionProps extends Question, Draft {
  readonly onChoose: (label: string) => void;
  readonly onWrite: (text: string) => void;
}

function OpenQuestion(props: OpenQuestionProps) {
  const { question, header, options, multiSelect, chosen, own, onChoose, onWrite } = props;
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in all browsers
    <div role="group" aria-labelledby={id} className="flex min-w-0 flex-col gap-2">
      <QuestionTitle {...{ id, question, header }} />
      {multiSelect && <p className="text-sm text-muted-foreground">Choose all that apply.</p>}
      <div className="flex flex-col gap-1.5">
        {options.map(({ label, description }) => {
          const isChosen = chosen.includes(label);
          return (
            <button
              key={label}
              type="button"
              aria-pressed={isChosen}
              onClick={() => onChoose(label)}
              className={cn(
                "flex items-start gap-2.5 rounded-lg border px-3 py-2 text-left transition-colors hover:border-input hover:bg-muted",
                isChosen && "border-accent-text bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <span
                aria-hidden
                className={cn(
                  "mt-0.5 grid size-4 shrink-0 place-items-center border border-input bg-surface",
                  multiSelect ? "rounded-sm" : "rounded-full",
                  isChosen && "border-accent bg-accent text-accent-foreground",
                )}
              >
                {isChosen && <Check className="size-3" />}
              </span>
              <span className="min-w-0 [overflow-wrap:anywhere]">
                <span className="font-medium">{label}</span>
                {description !== "" && description !== label && (
                  <span className="block text-sm text-muted-foreground">{description}</span>
                )}
              </span>
            </button>
          );
        })}
      </div>
      <Input
        value={own}
        onChange={onWrite}
        aria-label={`Your own answer to: ${question}`}
        placeholder="Or type your own answer"
      />
    </div>
  );
}

function Answered({ questions, call }: { questions: readonly Question[]; call: ToolCall }) {
  const answers = readAnswers(call.output);
  return questions.map(({ question, header }) => (
    <div key={question} className="flex min-w-0 flex-col gap-1.5">
      <QuestionTitle question={question} header={header} />
      <p className="[overflow-wrap:anywhere]">
        {answers?.[question] !== undefined ? (
          <span className="inline-flex items-start gap-1.5 rounded-md bg-accent-soft px-2 py-1 text-accent-text">
            <Check aria-hidden className="mt-0.5 size-4 shrink-0" />
            {answers[question]}
          </span>
        ) : (
          <span className="text-muted-foreground">
            {call.state === "open" || call.state === "running"
              ? "Not answered"
              : "Declined to answer"}
          </span>
        )}
      </p>
    </div>
  ));
}

type QuestionTitleProps = Pick<Question, "question" | "header"> & { readonly id?: string };

const QuestionTitle = ({ id, question, header }: QuestionTitleProps) => (
  <div className="flex items-start gap-2">
    <MessageCircleQuestion aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-text" />
    <div className="min-w-0">
      {header !== "" && header !== question && (
        <p className="text-xs font-medium text-muted-foreground">{header}</p>
      )}
      <p id={id} className="font-medium [overflow-wrap:anywhere]">
        {question}
      </p>
    </div>
  </div>
);

import { notFound } from "next/navigation";

/** Any path that nothing else answers: the page in the console's look, with its status. */
export default function MissingPage(): never {
  notFound();
}

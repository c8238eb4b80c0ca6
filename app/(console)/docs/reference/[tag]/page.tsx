import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { describeReference, type ReferenceSection } from "@/lib/openapi/reference.ts";
import { PageHeader } from "../../../_ui/page-header.tsx";
import { PageLinks } from "../../_content/page-links.tsx";
import { addressOfTag, slugOfTag } from "../../_content/pages.ts";
import { Operation } from "../../operation.tsx";

interface Props {
  readonly params: Promise<{ readonly tag: string }>;
}

const sections = describeReference();

const findSection = async ({ params }: Props): Promise<ReferenceSection | undefined> => {
  const { tag } = await params;
  return sections.find((section) => slugOfTag(section.tag) === tag);
};

export async function generateMetadata(props: Props): Promise<Metadata> {
  return { title: (await findSection(props))?.tag ?? "Not found" };
}

/** The endpoints of one tag, from the OpenAPI document and its recorded examples. */
export default async function TagPage(props: Props) {
  const section = await findSection(props);
  if (section === undefined) notFound();
  const place = sections.indexOf(section);
  return (
    <>
      <PageHeader title={section.tag} description={section.about} />
      {section.operations.map((operation) => (
        <Operation key={operation.id} operation={operation} />
      ))}
      <PageLinks before={linkTo(sections[place - 1])} after={linkTo(sections[place + 1])} />
    </>
  );
}

const linkTo = (section: ReferenceSection | undefined) =>
  section === undefined ? undefined : { href: addressOfTag(section.tag), title: section.tag };

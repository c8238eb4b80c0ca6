import type { ReactNode } from "react";
import { cn } from "./class-names.ts";
import { ArrowLeft } from "./icons.tsx";
import { Link } from "./link.tsx";

interface PageProps {
  /** The title in the header; a page of one thing has its own. */
  readonly title?: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The layout of a page with text, lists and forms, which scrolls as a whole. */
export const Page = ({ title, description, actions, className, children }: PageProps) => (
  <div
    data-page=""
    className={cn("mx-auto w-full max-w-6xl px-4 pt-6 pb-16 sm:px-8 sm:pt-9", className)}
  >
    {title !== undefined && <PageHeader {...{ title, description }}>{actions}</PageHeader>}
    {children}
  </div>
);

type PageHeaderProps = Readonly<{ title: string; description?: ReactNode; children?: ReactNode }>;

export const PageHeader = ({ title, description, children }: PageHeaderProps) => (
  <header className="mb-6 flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5">
    <h1 className="min-w-0 text-2xl font-semibold">{title}</h1>
    {description !== undefined && (
      <div className="order-last basis-full">
        <p className="max-w-2xl text-pretty text-muted-foreground">{description}</p>
      </div>
    )}
    {children !== undefined && <div className="flex flex-wrap gap-2">{children}</div>}
  </header>
);

/** The way from the page of one thing back to the list of all, above everything else. */
export const BackLink = ({
  href,
  children,
}: {
  readonly href: string;
  readonly children: string;
}) => (
  <Link
    href={href}
    className="-ml-1.5 mb-3 inline-flex h-7 items-center gap-1.5 rounded-md px-1.5 text-sm text-muted-foreground hover:bg-hover hover:text-foreground"
  >
    <ArrowLeft aria-hidden className="size-4" />
    {children}
  </Link>
);

type SectionProps = Readonly<{ title: string; className?: string; children: ReactNode }>;

/** A part of a page below its name. */
export const Section = ({ title, className, children }: SectionProps) => (
  <section aria-label={title} className={className}>
    <h2 className="mb-2 text-sm font-medium text-muted-foreground">{title}</h2>
    {children}
  </section>
);

interface DetailHeaderProps {
  readonly title: string;
  readonly state: ReactNode;
  readonly about: ReactNode;
  readonly children: ReactNode;
}

/** The top of the page of one thing: its title and state, a line about it, and its actions. */
export const DetailHeader = ({ title, state, about, children }: DetailHeaderProps) => (
  <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
    <div className="min-w-0">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="line-clamp-2 text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
          {title}
        </h1>
        {state}
      </div>
      {about}
    </div>
    <div className="flex flex-wrap gap-2">{children}</div>
  </header>
);

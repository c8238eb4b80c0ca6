"use client";
import { Plus } from "lucide-react";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { Button } from "../_ui/button.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { HeadlessRuns } from "./headless-runs.tsx";
import { StartRunDialog } from "./start-run-dialog.tsx";
import { TaskRunPanel } from "./task-run-panel.tsx";
import { TaskRuns } from "./task-runs.tsx";

/** The page of runs. The tab and the open run are in the address, so that they can be linked to. */
export function RunsPage() {
  const query = useSearchParams();
  const [isStarting, setIsStarting] = useState(false);
  const runId = query.get("runId");
  const tab = query.get("tab") === "agent" ? "agent" : "tasks";
  const show = (next: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams(next).toString();
    // `pushState` avoids a request, because the page stays the same.
    history.pushState(null, "", text === "" ? "/runs" : `/runs?${text}`);
  };
  return (
    <Page>
      <PageHeader title="Runs" description="Tasks and agent runs that work in the background.">
        <Button onClick={() => setIsStarting(true)}>
          <Plus aria-hidden />
          Start agent run
        </Button>
      </PageHeader>
      <Tabs value={tab} onValueChange={(next) => show(next === "agent" ? { tab: "agent" } : {})}>
        <TabsList aria-label="Run type">
          <TabsTrigger value="tasks">Tasks</TabsTrigger>
          <TabsTrigger value="agent">Agent runs</TabsTrigger>
        </TabsList>
        <TabsContent value="tasks">
          <TaskRuns onOpen={(id) => show({ runId: id })} />
        </TabsContent>
        <TabsContent value="agent">
          <HeadlessRuns onStart={() => setIsStarting(true)} />
        </TabsContent>
      </Tabs>
      {runId !== null && <TaskRunPanel key={runId} runId={runId} onClose={() => show({})} />}
      {isStarting && (
        <StartRunDialog
          onClose={() => setIsStarting(false)}
          onStarted={() => {
            setIsStarting(false);
            show({ tab: "agent" });
          }}
        />
      )}
    </Page>
  );
}

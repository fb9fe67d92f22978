"""Answer the messages of panes and rows.

They ask for commands to send, screens to open and moments to show.
"""

from __future__ import annotations

from textual import on

from gemini_live_tui.console.command_sender import CommandSender
from gemini_live_tui.console.composition import ComposedScreen
from gemini_live_tui.console.navigation import Navigation
from gemini_live_tui.console.notices import Notices
from gemini_live_tui.console.tab_bar import TabBar
from gemini_live_tui.console.time_travel import TimeTravel
from gemini_live_tui.messages import (
    EditKey,
    ExplainEvent,
    ExplainTransition,
    FollowChanged,
    GoToEvent,
    GoToTime,
    OpenScreen,
    PaneChanged,
    SendOrder,
    ShowDetails,
    ShowHint,
    ShowWatcher,
)
from gemini_live_tui.panes.base import Pane


class PaneMessages(ComposedScreen):
    """Main screen as its panes and rows see it.

    The screen itself makes the controllers.
    """

    notices: Notices
    sender: CommandSender
    navigation: Navigation
    time_travel: TimeTravel

    @on(ShowHint)
    def _on_show_hint(self, message: ShowHint) -> None:
        self.notices.say(message.text, passing=True)

    @on(SendOrder)
    def _on_send_order(self, message: SendOrder) -> None:
        self.sender.order(message.order)

    @on(Pane.TabChosen)
    @on(TabBar.Chosen)
    def _on_pane_chosen(self, message: Pane.TabChosen | TabBar.Chosen) -> None:
        self.grid.go_to(message.pane)

    @on(PaneChanged)
    def _on_pane_changed(self, message: PaneChanged) -> None:
        self.grid.show_again(message.pane)
        self._store.wake()

    @on(FollowChanged)
    def _on_follow_changed(self) -> None:
        self.navigation.show_following()

    @on(GoToTime)
    def _on_go_to_time(self, message: GoToTime) -> None:
        self.time_travel.seek_time(message.t)

    @on(GoToEvent)
    def _on_go_to_event(self, message: GoToEvent) -> None:
        self.time_travel.seek_event(message.seq)

    @on(OpenScreen)
    def _on_open_screen(self, message: OpenScreen) -> None:
        self.console.action_open(message.name)

    @on(ExplainEvent)
    def _on_explain_event(self, message: ExplainEvent) -> None:
        from gemini_live_tui.dialogs.why import WhyScreen

        screen = WhyScreen.about(self.console, message.seq)
        if screen is None:
            self.notices.say("There is nothing to explain here.", passing=True)
        else:
            self.console.enter(screen)

    @on(ExplainTransition)
    def _on_explain_transition(self, message: ExplainTransition) -> None:
        from gemini_live_tui.dialogs.why import WhyScreen
        from gemini_live_tui.panes.why_rows import reason_of_transition

        self.console.enter(WhyScreen(self.console, reason_of_transition(message.way, message.agent)))

    @on(ShowDetails)
    def _on_show_details(self, message: ShowDetails) -> None:
        from gemini_live_tui.dialogs.details import DetailsScreen

        self.console.enter(DetailsScreen(self._settings, message.title, message.parts, copy=message.copy))

    @on(EditKey)
    def _on_edit_key(self, message: EditKey) -> None:
        from gemini_live_tui.editors.state import StateEditor

        self.console.enter(StateEditor(self.console, message.key))

    @on(ShowWatcher)
    def _on_show_watcher(self, message: ShowWatcher) -> None:
        from gemini_live_tui.editors.watcher import WatcherScreen

        self.console.enter(WatcherScreen(self.console, message.kind, message.name))

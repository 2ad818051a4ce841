package ui

// action is what a key asks for.
type action uint8

const (
	actNone action = iota
	actUp
	actDown
	actTop
	actBottom
	actHalfUp
	actHalfDown
	actPageUp
	actPageDown
	actOpen
	actBack
	actPane
	actPrevious
	actNext
	actChain
	actPrevChain
	actNextChain
	actWhy
	actHelp
	actLog
	actFilter
	actSort
	actCommand
	actFreeze
	actCopy
	actPin
	actEject
	actClear
	actQuit
	actSuspend
	actInterrupt
)

// binding is one line of the keymap. Help, docs and man page are made from it.
type binding struct {
	act   action
	keys  []string // as bubbletea names them
	show  string   // as a reader knows them
	short string   // one word for the footer
	help  string
	group string
	verb  bool // changes something: off with --read-only
}

// keymap is all keys of the console outside dialogs, in the order of the help.
func keymap() []binding {
	const move, look, act, leave = "Move", "Look", "Act", "Leave"
	return []binding{
		{actDown, []string{"j", "down"}, "j ↓", "", "next line", move, false},
		{actUp, []string{"k", "up"}, "k ↑", "", "previous line", move, false},
		{actTop, []string{"g", "home"}, "g Home", "", "first line", move, false},
		{actBottom, []string{"G", "end"}, "G End", "", "last line", move, false},
		{actHalfDown, []string{"ctrl+d"}, "ctrl-d", "", "half a page down", move, false},
		{actHalfUp, []string{"ctrl+u"}, "ctrl-u", "", "half a page up", move, false},
		{actPageDown, []string{"pgdown", "ctrl+f"}, "PgDn", "", "a page down", move, false},
		{actPageUp, []string{"pgup", "ctrl+b"}, "PgUp", "", "a page up", move, false},
		{actPane, []string{"tab", "shift+tab"}, "tab", "events", "to the events and back", move, false},
		{actChain, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "1-9", "", "to the chain of that number", move, false},
		{actNextChain, []string{"J"}, "J", "", "to the next chain", move, false},
		{actPrevChain, []string{"K"}, "K", "", "to the previous chain", move, false},
		{actNext, []string{"l", "right"}, "l →", "", "next endpoint, in its pane", move, false},
		{actPrevious, []string{"h", "left"}, "h ←", "", "previous endpoint, in its pane", move, false},

		{actOpen, []string{"enter"}, "enter", "open", "the endpoint: identity, failures, cost, gate", look, false},
		{actWhy, []string{"w"}, "w", "why", "why this one serves, and what keeps the others out", look, false},
		{actFilter, []string{"/"}, "/", "filter", "filter: terms such as lag>2 chain:base !state:down, or a text; esc shows all", look, false},
		{actSort, []string{"s"}, "s", "sort", "sort: a letter follows; the same again reverses", look, false},
		{actCommand, []string{":"}, ":", "", "command line, with completion by tab and a history", look, false},
		{actFreeze, []string{" "}, "space", "freeze", "freeze the display; the engine goes on", look, false},
		{actCopy, []string{"y"}, "y", "copy", "copy a line about the endpoint to the clipboard, without secrets", look, false},
		{actLog, []string{"o"}, "o", "", "log: what this process has noted", look, false},
		{actHelp, []string{"?"}, "?", "help", "this help", look, false},

		{actPin, []string{"p"}, "p", "pin", "pin: this chain goes to this endpoint", act, true},
		{actEject, []string{"e"}, "e", "eject", "eject: never this endpoint", act, true},
		{actClear, []string{"c"}, "c", "clear", "clear: end overrides, and gates that end by clear", act, true},

		{actBack, []string{"esc"}, "esc", "back", "out one level; never quits", leave, false},
		{actQuit, []string{"q"}, "q", "quit", "quit", leave, false},
		{actInterrupt, []string{"ctrl+c"}, "ctrl-c", "", "quit at once, from everywhere", leave, false},
		{actSuspend, []string{"ctrl+z"}, "ctrl-z", "", "suspend; fg comes back", leave, false},
	}
}

// dialogKeys is what works in a dialog, for the help.
func dialogKeys() []binding {
	const in = "In a dialog"
	return []binding{
		{show: "tab", help: "next field; Cancel has the focus at first", group: in},
		{show: "← →", help: "choose how long, or between the buttons", group: in},
		{show: "enter", help: "press the button; in a field, go to the next", group: in},
		{show: "esc", help: "close, nothing is done", group: in},
	}
}

// bindings finds a binding by the key's name.
type bindings map[string]binding

func newBindings() bindings {
	b := bindings{}
	for _, line := range keymap() {
		for _, k := range line.keys {
			b[k] = line
		}
	}
	return b
}

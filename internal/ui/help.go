package ui

// helpPane is made from the keymap, and explains the signs.
func (c *console) helpPane(w int) []string {
	t := &c.theme
	left := &pane{t: t, w: w}
	two := w >= 110
	if two {
		left.w = (w - 3) / 2
	}
	group := ""
	for _, k := range append(keymap(), dialogKeys()...) {
		if k.group != group {
			group = k.group
			left.heading(group)
		}
		help := k.help
		if k.verb && c.o.ReadOnly {
			help += " (off: --read-only)"
		}
		for i, l := range wrap(help, max(left.w-11, 8)) {
			key := ""
			if i == 0 {
				key = k.show
			}
			left.lines = append(left.lines, "  "+t.paint(keycap, fit(key, 8))+" "+l)
		}
	}
	right := left
	if two {
		right = &pane{t: t, w: w - 3 - left.w}
	}
	right.heading("States")
	for _, s := range [...][2]string{
		{"ok", "may serve"},
		{"lagging", "beyond the soft lag; passed over for reads of the tip"},
		{"stale", "beyond the hard lag; may not serve"},
		{"down", "its breaker is open, or it never answered"},
		{"throttled", "asked to be left alone for a while"},
		{"refused", "credentials, plan or host are refused"},
		{"wrong-chain", "chain id or genesis is another one; never served from"},
		{"identity-flap", "turned wrong twice; ends by clear only"},
		{"forked", "its chain conflicts with the others'; never served from"},
		{"identity-unknown", "its chain id was not read yet"},
		{"ejected", "by the operator"},
		{"unknown", "no sample yet"},
	} {
		glyph, k := stateLook(s[0])
		for i, l := range wrap(s[1], max(right.w-22, 8)) {
			name := blanks(18)
			if i == 0 {
				name = t.paint(k, fit(glyph+" "+s[0], 18))
			}
			right.lines = append(right.lines, "  "+name+"  "+l)
		}
	}
	right.heading("Columns")
	for _, s := range [...][2]string{
		{"cost ms", "expected ms to a usable answer; lower is better"},
		{"p50 p95", "latency of its successes, in ms"},
		{"errors", "share of failures that are its own"},
		{"blocks lag", "behind the reference head"},
		{"seen", "age of the last good probe; older numbers are pale"},
		{"denied", "refused by our own limits; charged to nobody"},
		{"today", "probe calls since 00:00 UTC"},
		{"a day", "probe calls a day at the present pace"},
		{"last 60 s", "▁ under 10 ms, each step doubles, █ 640 ms and more, ✕ failed"},
		{"–", "could not be read; never a number"},
	} {
		right.pair(s[0], s[1], plain)
	}
	if len(c.o.Notices) > 0 || c.snap != nil && len(c.snap.Notices) > 0 {
		right.heading("Notices")
		for _, n := range c.o.Notices {
			right.text(clean(n), plain, 2)
		}
		if c.snap != nil {
			for _, n := range c.snap.Notices {
				right.text(clean(n), plain, 2)
			}
		}
	}
	if !two {
		return left.lines
	}
	return beside(left, right, 3)
}

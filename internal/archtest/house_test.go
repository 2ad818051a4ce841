package archtest

// The house as data: docs/architecture.md is the same picture in words. A new
// package gets a line here and a paragraph there.

// beside is the floor of what stands beside the house.
const beside = -1

// room is one package and what it may lean on.
type room struct {
	floor int
	// also names packages that it may import besides those of lower floors.
	also []string
	// pure: no I/O, no clock, no chance. See pureBans.
	pure bool
	// waits: may wait on a timer, which gives it no time to decide by.
	waits bool
}

// house maps a package's folder to its room. Arrows go down only: a package
// imports packages of lower floors, and those that `also` names.
var house = map[string]room{
	"cmd/rpctop": {floor: 4, also: []string{"internal/darkbg", "internal/devnet"}},

	"internal/ui":    {floor: 3},
	"internal/proxy": {floor: 3},

	"internal/engine":   {floor: 2},
	"internal/recovery": {floor: 2},
	"internal/report":   {floor: 2},

	"internal/probe":    {floor: 1, also: []string{"internal/upstream"}},
	"internal/failover": {floor: 1, pure: true},
	"internal/store":    {floor: 1},
	"internal/upstream": {floor: 1},
	"internal/signer":   {floor: 1},
	"internal/config":   {floor: 1},

	"internal/fleet":     {floor: 0, pure: true},
	"internal/jsonrpc":   {floor: 0, also: []string{"internal/fleet"}, pure: true},
	"internal/admission": {floor: 0, also: []string{"internal/fleet"}, pure: true, waits: true},

	"internal/devnet":   {floor: beside, also: []string{"internal/fleet"}},
	"internal/darkbg":   {floor: beside},
	"internal/shot":     {floor: beside},
	"internal/archtest": {floor: beside},
}

// pureBans are the imports that a pure package does without; "x/..." bans a
// tree. jsonrpc takes headers as a plain map, for one.
var pureBans = []string{
	"net", "net/http/...", "net/rpc/...", "net/smtp", "database/sql/...",
	"os/...", "io/fs", "syscall", "math/rand/...", "crypto/rand", "log/...",
}

// clockNames are the names of package time that read the clock, or hand out
// what it reads; timerNames wait for it.
var (
	clockNames = []string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTicker"}
	timerNames = []string{"NewTimer", "AfterFunc"}
)

// roundedBans are the names of package math whose results may differ in the
// last bit from one machine to the next.
var roundedBans = []string{
	"Exp", "Exp2", "Expm1", "Log", "Log2", "Log10", "Log1p", "Pow", "Cbrt", "Hypot",
	"Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Atan2", "Sinh", "Cosh", "Tanh", "FMA",
}

// owners says which packages alone may import an outside package ("x/...": a
// tree), and why.
var owners = []struct {
	path string
	only []string
	why  string
}{
	{"net/http/...", []string{"internal/upstream", "internal/proxy", "internal/devnet"},
		"one door to the network: requests to endpoints leave through upstream alone"},
	{"github.com/ethereum/go-ethereum/rpc", []string{"internal/upstream", "internal/devnet"},
		"one door to the network"},
	{"github.com/ethereum/go-ethereum/ethclient/...", []string{"internal/devnet"},
		"ethclient hides the evidence"},
	{"database/sql/...", []string{"internal/store"}, "the database is the store's"},
	{"modernc.org/sqlite/...", []string{"internal/store"}, "the database is the store's"},
	{"github.com/pressly/goose/v3/...", []string{"internal/store"}, "the database is the store's"},
	{"github.com/charmbracelet/bubbletea/...", []string{"internal/ui"}, "nothing but ui knows how the console is drawn"},
	{"github.com/charmbracelet/bubbles/...", []string{"internal/ui"}, "nothing but ui knows how the console is drawn"},
	{"github.com/NimbleMarkets/ntcharts/...", []string{"internal/ui"}, "it brings bubbletea along"},
	{"github.com/charmbracelet/lipgloss/...", []string{"internal/ui", "internal/darkbg"},
		"nothing but ui knows how the console is drawn"},
}

// importsOnly lists packages that may import nothing outside the standard
// library but this ("": not the standard library either).
var importsOnly = map[string][]string{
	"internal/fleet":  {"std", "github.com/ethereum/go-ethereum/common"},
	"internal/darkbg": {"github.com/charmbracelet/lipgloss"},
}

// maxLines is the length of a file, tests left out, from which on it is to be
// split; about 400 is the habit of the house.
const maxLines = 450

// tables are files of data, which may be longer: each is one table, and would
// only be harder to read in pieces.
var tables = map[string]bool{
	"internal/jsonrpc/rules.go": true, // what errors mean, one row a rule
}

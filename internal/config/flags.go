package config

import "strings"

// arguments is what the command line says besides settings.
type arguments struct {
	file                 string // the positional argument
	help, version, print bool
}

// readArgs takes the settings of the command line.
func (l *loader[T]) readArgs(args []string) (a arguments) {
	flags, guessed := true, false // guessed: the word may belong to an unknown flag before it
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case flags && arg == "--":
			flags, guessed = false, false
		case flags && strings.HasPrefix(arg, "-") && arg != "-":
			next := args[i+1:]
			used, known := l.readFlag(&a, arg, next)
			i += used
			guessed = !known && !strings.Contains(arg, "=")
		case guessed:
			guessed = false
		case a.file != "":
			l.failUsage("command line", "one configuration file at most, "+a.file+" is given already")
		default:
			a.file = arg
		}
	}
	return a
}

// readFlag reads one flag; used counts the words after it that belong to it.
func (l *loader[T]) readFlag(a *arguments, arg string, next []string) (used int, known bool) {
	name, value, inline := strings.Cut(arg, "=")
	switch name {
	case "-h", "--help":
		a.help = true
		return 0, true
	case "-V", "--version":
		a.version = true
		return 0, true
	case "--print-config":
		a.print = true
		return 0, true
	}
	sp, ok := l.schema.byFlag[strings.TrimPrefix(name, "--")]
	if !ok || !strings.HasPrefix(name, "--") {
		l.unknownFlag(name)
		return 0, false
	}
	switch {
	case inline:
	case isSwitch(sp.field.typ):
		value = "true"
	case len(next) == 0:
		l.failUsage(name, "needs a value: "+form(sp.field.typ))
		return 0, true
	default:
		value, used = next[0], 1
	}
	l.takeFlag(sp, name, value)
	return used, true
}

func (l *loader[T]) unknownFlag(name string) {
	at := Origin{Source: Flag, Name: name}
	for key, u := range l.schema.unsupported {
		flag := u.Flag
		if flag == "" {
			flag = flagName(key)
		}
		if name == "--"+flag {
			l.unsupported(key, at)
			return
		}
	}
	l.failUsage(name, "unknown flag"+meant(name, l.schema.flags()))
}

// takeFlag joins the occurrences of a list; anything else may be given once.
func (l *loader[T]) takeFlag(sp spelling, name, value string) {
	for i := range l.entries {
		e := &l.entries[i]
		if e.origin.Source != Flag || e.spelling.field != sp.field || e.origin.Name != name {
			continue
		}
		if !isList(sp.field.typ) {
			l.failUsage(name, "given more than once")
			return
		}
		e.value = append(e.value.(texts), value)
		return
	}
	l.take(entry{spelling: sp, origin: Origin{Source: Flag, Name: name}, value: texts{value}})
}

// readEnv takes the settings of the environment.
func (l *loader[T]) readEnv(env func(string) (string, bool)) {
	seen := map[string]bool{}
	for _, sp := range l.schema.spellings {
		if sp.env == "" || seen[sp.env] {
			continue
		}
		if value, ok := env(sp.env); ok {
			seen[sp.env] = true
			l.take(entry{spelling: sp, origin: Origin{Source: Env, Name: sp.env}, value: texts{value}})
		}
	}
	for _, u := range l.schema.options.Unsupported {
		name := l.schema.options.Prefix + envName(u.Key)
		if u.Flag != "" {
			name = l.schema.options.Prefix + envName(u.Flag)
		}
		if _, ok := env(name); ok && !seen[name] {
			l.unsupported(u.Key, Origin{Source: Env, Name: name})
		}
	}
}

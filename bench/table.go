package bench

import (
	"fmt"
	"strings"
	"time"
)

// Table is the report in Markdown: figures, then the first relay's as ratios of
// the others', median and in brackets least and most over the rounds.
func (r *Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s on %s\n\n", r.Date.Format("2006-01-02"), r.Machine.Host)
	fmt.Fprintf(&b, "%s; %s; %s.\n\n", r.Machine, r.Version, r.Pinning)
	for _, a := range r.Relays {
		fmt.Fprintf(&b, "- %s\n", a)
	}
	r.figures(&b)
	r.ratios(&b)
	r.saturation(&b)
	r.agreement(&b)
	return b.String()
}

// eachCell goes through the rows of all tables.
func (r *Report) eachCell(f func(load Load, scheme string)) {
	for _, load := range r.Loads {
		for _, scheme := range r.Schemes {
			f(load, scheme)
		}
	}
}

func (r *Report) figures(b *strings.Builder) {
	b.WriteString("\n## Figures\n\n| load | scheme | relay | µs of CPU a frame | p99 latency | delivered, least | others, cores |\n|---|---|---|---|---|---|---|\n")
	r.eachCell(func(load Load, scheme string) {
		for _, a := range r.Relays {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %v | %.3f %% | %s |\n", load.Name, scheme, a.Name,
				r.spread(a.Name, load.Name, scheme, frameCPU).format("%.1f"),
				time.Duration(r.spread(a.Name, load.Name, scheme, p99).Median)*time.Microsecond,
				100*r.spread(a.Name, load.Name, scheme, delivered).Min,
				r.spread(a.Name, load.Name, scheme, others).format("%.2f"))
		}
	})
}

func (r *Report) ratios(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s as a share of the others\n\n| load | scheme |", r.Relays[0].Name)
	for _, a := range r.Relays[1:] {
		fmt.Fprintf(b, " CPU a frame / %[1]s | p99 latency / %[1]s |", a.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|---|", len(r.Relays)-1) + "\n")
	r.eachCell(func(load Load, scheme string) {
		fmt.Fprintf(b, "| %s | %s |", load.Name, scheme)
		for _, a := range r.Relays[1:] {
			fmt.Fprintf(b, " %s | %s |", r.ratio(a.Name, load.Name, scheme, frameCPU).format("%.2f"),
				r.ratio(a.Name, load.Name, scheme, p99).format("%.2f"))
		}
		b.WriteString("\n")
	})
}

func (r *Report) saturation(b *strings.Builder) {
	if len(r.Saturation) == 0 {
		return
	}
	b.WriteString("\n## Saturation\n\n| relay | load | most viewers with all delivered | ended by | µs of CPU a frame at each step |\n|---|---|---|---|---|\n")
	for _, s := range r.Saturation {
		var steps []string
		for _, step := range s.Steps {
			steps = append(steps, fmt.Sprintf("%d: %.1f", step.Load.Viewers, step.FrameCPU))
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s | %s |\n", s.Relay, s.Steps[0].Load.Name, s.Viewers, s.Limit, strings.Join(steps, ", "))
	}
}

func (r *Report) agreement(b *strings.Builder) {
	if len(r.Agreement) == 0 {
		return
	}
	b.WriteString("\n## Second generator\n\n| relay | load | µs a frame by fanout | by moq-bench | ratio |\n|---|---|---|---|---|\n")
	for _, a := range r.Agreement {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.2f |\n", a.Relay, a.Load.Name,
			spreadOf(a.Ours).format("%.1f"), spreadOf(a.MoqBench).format("%.1f"), a.Ratio())
	}
}

// format prints the median, and the rest where it differs.
func (s Spread) format(verb string) string {
	if s.Min == s.Max {
		return fmt.Sprintf(verb, s.Median)
	}
	return fmt.Sprintf(verb+" ("+verb+"–"+verb+")", s.Median, s.Min, s.Max)
}

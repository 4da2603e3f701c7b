package rewrite

import "strings"

// Message rewrites a text for people on its way to the client: a whole run of
// letters, digits, '-' and '.' that is a private group, alone or after
// "<plural>.", becomes the standard one. A dot that ends a sentence is not part
// of the run. All else stays as it is: what a message says of the
// platform's own objects it says of them.
func Message(text string) string {
	if !strings.Contains(text, Private) {
		return text
	}
	return string(appendMessage(nil, text))
}

func appendMessage[T string | []byte](dst []byte, text T) []byte {
	for len(text) > 0 {
		end := 0
		for end < len(text) && inRun(text[end]) {
			end++
		}
		dst = appendRun(dst, text[:end])
		rest := end
		for rest < len(text) && !inRun(text[rest]) {
			rest++
		}
		dst = append(dst, text[end:rest]...)
		text = text[rest:]
	}
	return dst
}

func appendRun[T string | []byte](dst []byte, run T) []byte {
	from, to := privateGroup(run)
	if to == 0 {
		return append(dst, run...)
	}
	dst = append(dst, run[:from]...)
	dst = append(dst, Standard...)
	return append(dst, run[to:]...)
}

// privateGroup is where in a run the private base is, if the run is a private
// group; to is 0 if it is none.
func privateGroup[T string | []byte](run T) (from, to int) {
	end := len(run)
	for end > 0 && run[end-1] == '.' {
		end--
	}
	for _, start := range [...]int{0, groupStart(run[:end])} {
		at, row, match := find(ToClient, run[start:end])
		if match == Mapped && bases[row].server == Private {
			return start + at, end
		}
	}
	return 0, 0
}

func inRun(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.'
}

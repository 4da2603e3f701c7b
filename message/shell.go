package message

import "strings"

// plainWord are the characters that a shell takes for themselves.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"

// ShellWord is a text as one word of a command that people copy: a POSIX shell makes nothing of what is in it.
func ShellWord(text string) string {
	if PlainWord(text) {
		return text
	}
	return "'" + strings.ReplaceAll(Line(text), "'", `'\''`) + "'"
}

// PlainWord says that a text is one word of which no shell makes anything, as it is.
func PlainWord(text string) bool {
	return text != "" && strings.Trim(text, plainWord) == ""
}

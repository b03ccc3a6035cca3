// Package overreach does one of everything it does not declare.
package overreach

import (
	"net/http"
	"os"
	"os/exec"
	"unsafe"
)

func calls() {
	_, _ = http.Get("https://undeclared.example/")
	http.HandleFunc("/extra", nil)
	_ = exec.Command("true").Run()
	_ = os.WriteFile("entry.txt", nil, 0o600)
	_ = os.Remove("entry.txt")
	_ = os.Getenv("HOME")
	var n int
	_ = unsafe.Pointer(&n)
}

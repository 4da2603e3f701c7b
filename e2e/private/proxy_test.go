package private_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// product is a program of Capstan.
func product(name string) (string, error) { return filepath.Abs(filepath.Join(bin, name)) }

// throughProxy has a manager talk to a proxy of its own, which has its access: the kubeconfig that the proxy writes has none but its token.
func (w *world) throughProxy(ctx context.Context, m *manager) (string, error) {
	access, err := m.kubeconfig()
	if err != nil {
		return "", err
	}
	binary, err := product("capstan")
	if err != nil {
		return "", err
	}
	var address, health int
	if err := plane.ReservePorts(&address, &health); err != nil {
		return "", err
	}
	path := filepath.Join(plane.Dir(), m.id()+"-proxy.kubeconfig")
	proxy, err := spawn(m.id()+"-proxy", health, binary, "capi-proxy", "--kubeconfig="+access, "--write-kubeconfig="+path,
		"--address=127.0.0.1:"+strconv.Itoa(address), "--health-address=127.0.0.1:"+strconv.Itoa(health))
	if err != nil {
		return "", err
	}
	w.others, w.proxies = append(w.others, proxy), append(w.proxies, proxy)
	return path, proxy.ready(ctx)
}

// untranslated are the counters of the proxies that tell of a body that could not be translated.
func (w *world) untranslated(ctx context.Context) ([]string, error) {
	const counter = "hypershift_api_proxy_translation_errors_total{"
	var counted []string
	for _, proxy := range w.proxies {
		text, err := proxy.ask(ctx, "/metrics")
		if err != nil {
			return nil, err
		}
		if !strings.Contains(text, "hypershift_api_proxy_requests_total{") {
			return nil, fmt.Errorf("%s has counted no request", proxy.name)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, counter) && !strings.HasSuffix(line, " 0") {
				counted = append(counted, proxy.name+": "+line)
			}
		}
	}
	return counted, nil
}

// shim is the program that converts private objects, and has the managers asked for admission.
type shim struct {
	*manager
	port   int
	routes string
}

// newShim gives the shim an address; it has no route yet.
func newShim(world string) (*shim, error) {
	m, err := newManager(world, "shim")
	if err != nil {
		return nil, err
	}
	return &shim{manager: m, port: m.webhooks, routes: filepath.Join(plane.Dir(), "routes.yaml")}, nil
}

// start runs the shim with the access that it is given where it is deployed, and a route to each manager.
func (s *shim) start(ctx context.Context, managers map[string]*manager) error {
	if err := s.writeRoutes(managers); err != nil {
		return err
	}
	err := s.grant(ctx, []rbacv1.PolicyRule{{
		APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get", "list", "watch"},
	}})
	if err != nil {
		return err
	}
	access, err := s.kubeconfig()
	if err != nil {
		return err
	}
	certificates, err := serving(s.id())
	if err != nil {
		return err
	}
	binary, err := product("capi-shim")
	if err != nil {
		return err
	}
	s.child, err = spawn(s.id(), s.health, binary, "--kubeconfig="+access, "--routes="+s.routes, "--cert-dir="+certificates,
		"--address=127.0.0.1:"+strconv.Itoa(s.port), "--health-address=127.0.0.1:"+strconv.Itoa(s.health), "--metrics-address=0")
	if err != nil {
		return err
	}
	return s.ready(ctx)
}

// writeRoutes leads from each component's name to its manager, as the administrator would.
func (s *shim) writeRoutes(managers map[string]*manager) error {
	type route struct {
		Name   string `json:"name"`
		URL    string `json:"url"`
		CAFile string `json:"caFile"`
	}
	var routes []route
	for _, m := range managers {
		routes = append(routes, route{m.component, fmt.Sprintf("https://127.0.0.1:%d", m.webhooks), filepath.Join(plane.Dir(), "ca.crt")})
	}
	text, err := yaml.Marshal(map[string]any{"routes": routes})
	if err != nil {
		return fmt.Errorf("writing the routes of the shim: %w", err)
	}
	if err := os.WriteFile(s.routes, text, 0o600); err != nil {
		return fmt.Errorf("writing the routes of the shim: %w", err)
	}
	return nil
}

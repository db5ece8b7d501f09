{{- define "relay.image" -}}
{{- $repository := required "image.repository is missing: name your registry, such as registry.example.com/relay" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "relay.host" -}}
{{- regexReplaceAll ":[0-9]+$" (urlParse (required "settings.PUBLIC_URL is missing: the https address of this installation" .Values.settings.PUBLIC_URL)).host "" -}}
{{- end -}}

{{- define "relay.settings" -}}
{{- $_ := required "settings.PUBLIC_URL is missing: the https address of this installation" .Values.settings.PUBLIC_URL -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "relay.runbooks" -}}
{{- required "monitoring.runbooks is missing: where your people read docs/runbooks, or set monitoring.enabled=false" .Values.monitoring.runbooks -}}
{{- end -}}

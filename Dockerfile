# The plugin as a remote plugin: one static binary and nothing else. It needs no
# file, no network, no variable and no particular user.
ARG GO_VERSION=1.26.8

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-bookworm AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags="-s -w" -o /protoc-gen-ameide-agent ./cmd/protoc-gen-ameide-agent

FROM scratch
COPY --from=build /protoc-gen-ameide-agent /protoc-gen-ameide-agent
USER 65532:65532
ENTRYPOINT ["/protoc-gen-ameide-agent"]

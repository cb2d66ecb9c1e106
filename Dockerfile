# syntax=docker/dockerfile:1
FROM python:3.12-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium ca-certificates \
    && rm -rf /var/lib/apt/lists/*

FROM base AS build
WORKDIR /src
# Dependencies first: this layer stays as long as their digests do.
COPY constraints-hashes.txt ./
RUN python -m venv /opt/consilience \
    && /opt/consilience/bin/pip install --compile --require-hashes -r constraints-hashes.txt
COPY pyproject.toml README.md LICENSE engine-v1.json ./
COPY framework framework
COPY spiders spiders
COPY middlewares middlewares
COPY server server
COPY engines.d engines.d
COPY fixtures fixtures
RUN /opt/consilience/bin/pip install --compile --no-deps .

# docker build --target test . runs the tests
FROM build AS test
COPY . .
RUN /opt/consilience/bin/pip install pip==26.3 \
    && /opt/consilience/bin/pip install -c constraints.txt --group dev \
    && /opt/consilience/bin/python -m pytest -q -m "not slow"

FROM base AS run
LABEL org.opencontainers.image.title="Consilience" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.modelcontextprotocol.server.name="io.github.consilience/consilience"
RUN useradd --create-home --uid 10001 consilience \
    && install -d -o consilience -g consilience /state
COPY --from=build /opt/consilience /opt/consilience
ENV PATH="/opt/consilience/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    CONSILIENCE_STATE_DIR=/state \
    CONSILIENCE_CHROME_PATH=/usr/bin/chromium \
    CONSILIENCE_HOST=0.0.0.0 \
    CONSILIENCE_PORT=3000
USER consilience
WORKDIR /home/consilience
VOLUME /state
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os,urllib.request as u; u.urlopen(u.Request(f\"http://127.0.0.1:{os.environ['CONSILIENCE_PORT']}/healthz\", headers={'Host': 'localhost'}), timeout=4)"]
ENTRYPOINT ["consilience"]
CMD ["serve"]

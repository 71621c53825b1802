# The inspector for a team: one image, started as web or as worker (docker-compose.yml).
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

COPY requirements/server.txt requirements/
RUN pip install --require-hashes -r requirements/server.txt

COPY . .
RUN pip install --no-deps --no-build-isolation ./sdk . \
 && useradd --create-home ullage \
 && install -d -o ullage /data

USER ullage
WORKDIR /data
ENV ULLAGE_INSPECTOR_DATA_DIR=/data ULLAGE_INSPECTOR_HOST=0.0.0.0
EXPOSE 8000

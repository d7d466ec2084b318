# drgst on the CPU, without root: docker build -t drgst . && docker run --rm -v "$PWD:/data" drgst run --out runs/one
FROM python:3.12-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.12-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /tmp/constraints.txt
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -c /tmp/constraints.txt \
      "$(ls /wheels/drgst-*.whl)[report,serve]" \
 && rm -r /wheels /tmp/constraints.txt \
 && useradd --create-home drgst && mkdir /data && chown drgst /data
USER drgst
WORKDIR /data
ENTRYPOINT ["drgst"]
CMD ["--help"]

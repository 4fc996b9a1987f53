"""The call that tells the stages of a pipeline of SPDL."""

from __future__ import annotations

from typing import Any

from ._chain.spdl_pipeline import SpdlPipeline


def spdl_pipeline(builder: Any, **build: Any) -> SpdlPipeline:
    """What to hand to bisect() in place of the pipeline that `builder.build(**build)` gives: each
    stage is then measured. It can be iterated, and runs a new pipeline each time.

    `builder`: a spdl.pipeline.PipelineBuilder or PipelineConfig, with a source that can be iterated
    again. Raises TypeError for anything else; what the builder raises.
    """
    return SpdlPipeline(builder, build)

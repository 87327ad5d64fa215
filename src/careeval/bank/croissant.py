"""The bank's metadata in Croissant 1.1, with its RAI terms, for who looks for data by machine.

Source: MLCommons, Croissant format specification 1.1, and Croissant RAI 1.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from careeval.bank.load import Bank
from careeval.bank.sealed import HASH, SEALED
from careeval.core.scenario import Scenario, Split, Status
from careeval.files import read_bytes

FILE = "croissant.json"

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification gives, word for word: the validator asks for it."""


def croissant(bank: Bank, folder: Path) -> str:
    """The metadata of a bank as JSON, with its newline.

    Args:
        bank: Its public split.
        folder: Where it lies; every file is named with its hash.
    """
    public = [scenario for scenario in bank.scenarios if scenario.split is Split.public]
    n_probes = sum(len(bank.probes.get(scenario.id, ())) for scenario in public)
    files = sorted(
        path
        for pattern in ("*.yaml", "*/*.yaml", "second-reading/*.csv", SEALED, HASH)
        for path in folder.glob(pattern)
    )
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": bank.about.name,
        "alternateName": bank.about.title,
        "description": (
            f"{len(public)} written situations in which a caregiver, or a robot, physically helps "
            "a person with a disability to dress, wash, eat, use the toilet or move; each with two "
            f"rubrics that mark an answer, and {n_probes} written answers with labels to try a "
            f"grader with. {bank.about.provenance} A held-out split is encrypted beside it."
        ),
        "version": bank.about.version,
        "license": f"https://spdx.org/licenses/{bank.about.licence}",
        "usageInfo": bank.about.request,
        "datePublished": bank.about.released,
        "citeAs": (
            f"@misc{{careeval_open, title = {{{bank.about.title} ({bank.about.name}), version "
            f"{bank.about.version}}}, author = {{The careeval authors}}, year = "
            f"{{{(bank.about.released or '')[:4]}}}}}"
        ),
        "creator": {"@type": "sc:Organization", "name": "The careeval authors"},
        "keywords": [
            "caregiving", "occupational therapy", "assistive robots", "language models",
            "evaluation", "rubric",
        ],
        "inLanguage": "en",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.relative_to(folder).as_posix(),
                "name": path.relative_to(folder).as_posix(),
                "contentUrl": path.relative_to(folder).as_posix(),
                "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
                "sha256": hashlib.sha256(read_bytes(path)).hexdigest(),
            }
            for path in files
        ],
        "rai:dataCollection": (
            "Written for this bank, none of it taken from patients or users. An AI writer drafted "
            "each scenario, its rubrics and its probes from public clinical guidance, which the "
            "file names; a second AI reader rated every item and label blind, and another AI pass "
            "revised what they left unclear."
        ),
        "rai:dataCollectionType": ["Others"],
        "rai:dataAnnotationProtocol": (
            "Points −2 to +2 for each item; domains 0 to 2; labels present or absent for each act "
            "of each probe. The second reading saw scenario and items shuffled, without points, "
            "domains, reasons or labels: second-reading/."
        ),
        "rai:annotationsPerItem": "2, both by AI: self-consistency, not agreement of experts",
        "rai:annotatorDemographics": _raters(public),
        "rai:dataUseCases": [
            "Testing what a language model, or a robot's planner built on one, would do.",
            "Testing how far an automatic grader agrees with labels.",
            "Not for training models, designing control policies, or as clinical guidance.",
        ],
        "rai:dataLimitations": [
            _validated(public),
            "British practice and wording where practice differs between countries.",
            "Text alone: no images, no touch, no time.",
            "Scores do not compare with those of the CareEval paper, which has other scenarios.",
        ],
        "rai:dataBiases": [
            "Conditions, levels and situations follow a blueprint, not how often they occur.",
            "One family of AI models wrote, read and revised it: models alike may find it easier.",
        ],
        "rai:personalSensitiveInformation": ["none: every person in it is made up"],
        "rai:dataSocialImpact": (
            "It may help to find models that would hurt people; a good score is no proof of safety."
        ),
        "rai:hasSyntheticData": True,
    }  # fmt: skip
    content = {name: value for name, value in content.items() if value is not None}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _raters(scenarios: Sequence[Scenario]) -> list[str]:
    rated = [scenario for scenario in scenarios if scenario.evidence]
    if not rated:
        return ["none: no person has rated or labelled it yet"]
    roles = sorted({role for each in rated for found in each.evidence for role in found.raters})
    return [
        f"{len(rated)} of {len(scenarios)} scenarios were rated by people, whose roles and counts "
        f"stand in each scenario's evidence: {', '.join(roles)}",
    ]


def _validated(scenarios: Sequence[Scenario]) -> str:
    n = sum(scenario.status is Status.validated for scenario in scenarios)
    if not n:
        return "No clinician has validated it."
    return f"{n} of {len(scenarios)} scenarios are validated by ratings of experts; no other is."


_FORMATS = {".yaml": "application/yaml", ".csv": "text/csv", ".sha256": "text/plain"}
